"""The levels of trust as pages show them, as on the page of a comparison (text/trust.ts)."""

# By level: mark, name and tone.
TRUST_LEVELS = {
    "solid": ("●", "Solid", "ok"),
    "care": ("▲", "Use with care", "warning"),
    "noisy": ("◆", "Too noisy", "warning"),
    "few_trials": ("◇", "Too few trials", "warning"),
    "not_comparable": ("■", "Not comparable", "error"),
}
