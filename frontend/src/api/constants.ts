// Made by scripts/check_constants.py: run scripts/fix.

/** Why an attempt failed. */
export const ERROR_CLASSES = ["connect", "read", "write", "timeout", "status", "length", "other"] as const;

/** Fields whose values have an order that a line may follow. */
export const ORDERED_FIELDS = ["version", "payload", "tool_version", "connections", "rate", "date"] as const;

/** How bad what a check found is, the worst first. */
export const SEVERITIES = ["error", "warning", "info"] as const;

/** Above this share of failed attempts a point is not ranked. */
export const HIGH_ERROR_RATE = 0.01 as const;

/** What low and high of a figure are where its trials have no level in common. */
export const RANGE_OF_UNLIKE = "range of the trials, which differ tenfold or more" as const;

/** In fewer versions or dates no change is looked for. */
export const LEAST_POSITIONS = 6 as const;
