// Made from docs/openapi.yaml by generate_types.mjs: run scripts/fix.
export interface components {
    schemas: {
        /** @description What a reader can conclude from a comparison. */
        readonly Answer: {
            readonly sentence: string;
            /** @description By how much, with its interval, or why nothing can be said */
            readonly margin?: string | null;
            /** @description Which series the answer leaves aside, and why: sentences */
            readonly aside?: string;
            readonly trust: components["schemas"]["Trust"];
        };
        /** @description What lies on the x axis. */
        readonly Axis: {
            readonly field: string;
            readonly label: string;
            readonly kind?: components["schemas"]["AxisKind"];
            readonly values: readonly (number | string)[];
        };
        /** @enum {string} */
        readonly AxisKind: "category" | "number";
        /** @description The row that the ratios are against. */
        readonly Baseline: {
            readonly server: string;
            readonly label: string;
        };
        /** @enum {string} */
        readonly BetterEnum: "higher" | "lower";
        /** @description The highest load of each series whose p99 stays under a limit. */
        readonly Capacity: {
            readonly limit_us: number;
            readonly rows: readonly components["schemas"]["CapacityRow"][];
        };
        /** @description The highest load of a series under the limit. */
        readonly CapacityRow: {
            readonly series: string;
            /** @description The highest measured load under the limit */
            readonly x: number | null;
            readonly throughput: number | null;
            /** @description The highest load certainly under the limit */
            readonly low: number | null;
            /** @description The highest load that may be under the limit */
            readonly high: number | null;
            readonly why: string | null;
        };
        /** @description Where a series changed along versions or dates. */
        readonly Change: {
            readonly series: string;
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly before: number | null;
            readonly after: number | null;
            readonly ratio: number | null;
            readonly low: number | null;
            readonly high: number | null;
            readonly verdict?: components["schemas"]["VerdictEnum"];
            readonly text: string;
        };
        /** @description The trial under way. */
        readonly Current: {
            readonly ordinal: number;
            readonly server: string;
            readonly workload: string;
            readonly connections: number | null;
            /** Format: double */
            readonly rate_rps: number | null;
            readonly repeat: number | null;
            readonly phase: components["schemas"]["PhaseEnum"];
        };
        /** @description The latency of a series by percentile. */
        readonly Curve: {
            readonly series: string;
            /** @description Requests in the histogram */
            readonly count: number;
            /** @description [percent, µs], rising */
            readonly points: readonly (readonly [
                number,
                number
            ])[];
        };
        /** @description Latency percentile curves, each of all its trials' histograms merged. */
        readonly Curves: {
            /** @description The place on the axis; null where panels differ */
            readonly at: number | string | null;
            readonly series: readonly components["schemas"]["Curve"][];
        };
        /** @description A run in which a member said why a check's finding does not count. */
        readonly Dismissed: {
            readonly run: string;
            readonly reason: string;
            readonly by: string | null;
            /** Format: date-time */
            readonly at: string | null;
        };
        readonly Facet: {
            readonly id: string;
            readonly label: string;
            readonly values: readonly components["schemas"]["FacetValue"][];
            /** @description How many values are not listed */
            readonly more: number;
        };
        readonly FacetValue: {
            readonly value: string;
            readonly label: string;
            /** @description Trials under all filters but this field's */
            readonly count: number;
            readonly chosen: boolean;
        };
        /** @description What can be chosen. */
        readonly Facets: {
            readonly total: components["schemas"]["Total"];
            readonly fields: readonly components["schemas"]["Facet"][];
        };
        /**
         * @description A comparison: the same on the page, here, in an export and in a frozen result set.
         *
         *     Fields that are not required are in every current answer; they may be absent in a result set
         *     that an older version froze.
         */
        readonly Figures: {
            readonly schema?: number;
            /** @description The canonical query string */
            readonly query: string;
            readonly links?: components["schemas"]["Links"];
            readonly finding: string;
            /** @description What to conclude, and whether to trust it */
            readonly answer?: components["schemas"]["Answer"];
            readonly conditions: string;
            /** @description What more runs would add; null with three runs a point */
            readonly replication?: string | null;
            readonly outcome: components["schemas"]["Outcome"];
            readonly x: components["schemas"]["Axis"];
            readonly metric: string;
            readonly metrics: readonly components["schemas"]["Metric"][];
            readonly series: readonly components["schemas"]["Series"][];
            /** @description Null when not comparable */
            readonly ranking: components["schemas"]["Ranking"] | null;
            /** @description Null without facet= */
            readonly panels?: readonly components["schemas"]["Panel"][] | null;
            readonly curves?: components["schemas"]["Curves"] | null;
            readonly knees?: readonly components["schemas"]["Knee"][];
            /** @description Null without limit= */
            readonly capacity?: components["schemas"]["Capacity"] | null;
            /** @description Null with one workload */
            readonly ratios?: components["schemas"]["Ratios"] | null;
            /** @description With x=version or x=date */
            readonly changes?: readonly components["schemas"]["Change"][];
            readonly checks: readonly components["schemas"]["FiredCheck"][];
            readonly runs: readonly components["schemas"]["SourceRun"][];
            /** @description What is left out, as a sentence */
            readonly truncated?: string | null;
            /** @description Trials that no figure counts */
            readonly not_read?: readonly components["schemas"]["NotRead"][];
        };
        /** @description A check that fired, with the cells and trials it fired on (at most 100 of each). */
        readonly FiredCheck: {
            readonly id: string;
            readonly severity: components["schemas"]["SeverityEnum"];
            readonly title: string;
            readonly explanation: string;
            /** @description Its section in the documentation */
            readonly section?: string;
            readonly count: number;
            readonly cells?: readonly string[];
            readonly trials?: readonly string[];
            /** @description For an error: its runs' ids, at most 100 */
            readonly runs?: readonly string[];
            /** @description A member dismissed it */
            readonly dismissed?: readonly components["schemas"]["Dismissed"][];
        };
        /** @enum {string} */
        readonly GroupEnum: "errors" | "latency" | "rate" | "resources";
        /** @description The lowest load beyond which throughput gains nothing. */
        readonly Knee: {
            readonly series: string;
            readonly x: number | null;
            readonly throughput: number | null;
            readonly why: string | null;
        };
        /** @description The load tool's own figures of the trial before. Null is unknown. */
        readonly Last: {
            /** Format: double */
            readonly throughput_rps: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            /** Format: double */
            readonly error_rate: number | null;
        };
        /** @enum {string} */
        readonly LevelEnum: "care" | "few_trials" | "noisy" | "not_comparable" | "solid";
        /** @description The same view as page, json and csv. */
        readonly Links: {
            readonly page?: string;
            readonly json?: string;
            readonly csv?: string;
        };
        /** @description One figure of a point: the centre of its trials, its interval and every trial's value. */
        readonly Measure: {
            /** @description Geometric mean of the trials, run by run; of errors, their share */
            readonly value: number | null;
            /** @description Null with fewer than 3 trials, unless they differ tenfold or more: then low and high are their range, as interval says */
            readonly low: number | null;
            readonly high: number | null;
            /** @description The value of each trial; null for a trial without one */
            readonly each?: readonly (number | null)[] | null;
            /** @description Computed from the requests, or as the load tool reports it */
            readonly origin?: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /** @description What low and high cover */
            readonly interval?: string | null;
            /** @description A latency over all requests together, where their distribution is known */
            readonly pooled?: number;
            /** @description Step of the printed figure in µs; a smaller value is known as below it */
            readonly step?: number;
        };
        /** @description What can be measured, its unit, and which direction is better. */
        readonly Metric: {
            readonly id: string;
            readonly label: string;
            readonly unit: string;
            readonly better: components["schemas"]["BetterEnum"];
            readonly group?: components["schemas"]["GroupEnum"];
        };
        /** @description Trials of a series that are in no figure, and why. */
        readonly NotRead: {
            readonly series: string;
            readonly label: string;
            /** @description Null without a known place on the axis */
            readonly x: (number | string) | null;
            readonly trials: number;
            /** @description One sentence */
            readonly reason: string;
            /** @description The ids of their runs */
            readonly runs?: readonly string[];
        };
        readonly NullEnum: null;
        /**
         * @description * `computed` - computed
         *     * `reported` - reported
         * @enum {string}
         */
        readonly OriginEnum: "computed" | "reported";
        /** @description Whether the series may be compared at all. */
        readonly Outcome: {
            readonly status: components["schemas"]["StatusEnum"];
            /** @description Ids of the properties that differ */
            readonly differing: readonly string[];
            /** @description Sentences, the most serious first */
            readonly reasons: readonly string[];
            /** @description The only property that differs */
            readonly intent?: string | null;
            /** @description Properties that differ together */
            readonly confounded?: readonly string[];
            /** @description Ranked although not comparable */
            readonly overridden?: boolean;
        };
        /** @description One panel of a comparison that facet= divides. */
        readonly Panel: {
            readonly value: string;
            readonly series: readonly string[];
            readonly finding: string;
            readonly outcome: components["schemas"]["Outcome"];
            readonly ranking: components["schemas"]["Ranking"] | null;
        };
        /**
         * @description * `warmup` - warmup
         *     * `measure` - measure
         *     * `search` - search
         *     * `confirm` - confirm
         * @enum {string}
         */
        readonly PhaseEnum: "warmup" | "measure" | "search" | "confirm";
        /** @description A series at one place on the axis: the trials of its cells, pooled. */
        readonly Point: {
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly cell: string;
            readonly cells?: readonly string[];
            readonly trials: number;
            /** @description True if the offered rate was not reached */
            readonly overload: boolean | null;
            /** @description Throughput, p50, p99, error_rate and the metric of the query, by id */
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Measure"] | null;
            };
            /** @description Shares of the attempts by class; null if the load tool gives none */
            readonly errors?: {
                readonly [key: string]: number | null;
            } | null;
            readonly checks: readonly string[];
            /** @description For each trial, the position of its run */
            readonly runs?: readonly number[];
            /** @description That p99 may be on the other side of `limit`, with its interval */
            readonly limit_doubt?: string;
        };
        /** @description One trial of a point. Null is unknown. */
        readonly PointTrial: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly run: string;
            /** @description When the trial started, or if that is unknown, its run */
            readonly started_at: string | null;
            /** Format: double */
            readonly throughput: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            /** Format: double */
            readonly error_rate: number | null;
            /** @description The page of the trial */
            readonly url: string;
        };
        /** @description In the order in which they were measured. */
        readonly PointTrials: {
            readonly trials: readonly components["schemas"]["PointTrial"][];
        };
        /** @description The shape of every error. */
        readonly Problem: {
            /** @description Which kind of problem, as a URN; stable */
            readonly type: string;
            /** @description The same as a word for programs; stable */
            readonly code: string;
            /** @description The kind in words */
            readonly title: string;
            readonly status: number;
            /** @description What was got and what was expected */
            readonly detail: string;
            /** @description What to do */
            readonly hint: string;
        };
        /** @description How far a run is. Null is unknown. */
        readonly Progress: {
            /** Format: uuid */
            readonly run: string;
            /**
             * @description silent: the run has not ended, and a heartbeat of its agent is overdue
             *
             *     * `running` - running
             *     * `finished` - finished
             *     * `stopped` - stopped
             *     * `interrupted` - interrupted
             *     * `silent` - silent
             */
            readonly state: components["schemas"]["ProgressStateEnum"];
            /** @description Trials that the service has recorded */
            readonly trials_recorded: number;
            /** @description As counted by the agent */
            readonly trials_done: number | null;
            readonly trials_planned: number | null;
            readonly current: components["schemas"]["Current"] | null;
            readonly last: components["schemas"]["Last"] | null;
            /**
             * Format: double
             * @description As estimated by the agent at its last heartbeat
             */
            readonly seconds_left: number | null;
            /** Format: date-time */
            readonly heard_at: string | null;
        };
        /**
         * @description * `running` - running
         *     * `finished` - finished
         *     * `stopped` - stopped
         *     * `interrupted` - interrupted
         *     * `silent` - silent
         * @enum {string}
         */
        readonly ProgressStateEnum: "running" | "finished" | "stopped" | "interrupted" | "silent";
        /** @description A series in a ranking. */
        readonly RankRow: {
            readonly series: string;
            readonly label: string;
            readonly value: number | null;
            readonly low: number | null;
            readonly high: number | null;
            readonly tier: string | null;
            readonly ratio: components["schemas"]["Ratio"] | null;
            /** @description Beyond noise */
            readonly significant?: boolean | null;
            /** @description Beyond the workspace's threshold */
            readonly relevant?: boolean | null;
            /** @description Why its figure may not be compared */
            readonly why?: string | null;
            /** @description Why it does not keep limit=, if it does not */
            readonly over_limit?: string;
            /** @description That p99 may be on the other side of `limit`, with its interval */
            readonly limit_doubt?: string;
        };
        /** @description The series at one place on the axis, the best first. */
        readonly Ranking: {
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly metric: string;
            /** @description The id of its series */
            readonly baseline: string | null;
            readonly rows: readonly components["schemas"]["RankRow"][];
            /** @description Series beyond the largest number that is compared */
            readonly beyond?: readonly components["schemas"]["RankRow"][];
        };
        /** @description One figure divided by the baseline's, with its 95 % interval. */
        readonly Ratio: {
            readonly value: number | null;
            readonly low: number | null;
            readonly high: number | null;
            readonly verdict: components["schemas"]["VerdictEnum"];
            readonly why: string | null;
            /** @description Which runs the interval covers */
            readonly scope?: string | null;
            /** @description Smallest difference (a share) that would have been found, if none was */
            readonly finds_from?: number | null;
        };
        /** @description Servers × workloads, each cell within its own workload. */
        readonly Ratios: {
            readonly baseline: components["schemas"]["Baseline"];
            readonly rows: readonly string[];
            readonly columns: readonly string[];
            /** @description The place at which each column is compared */
            readonly loads?: readonly (number | string)[];
            readonly cells: readonly (readonly (components["schemas"]["Ratio"] | null)[])[];
            /** @description The geometric mean of each row */
            readonly means?: readonly (components["schemas"]["Ratio"] | null)[];
            /** @description The columns of the means */
            readonly means_over?: readonly string[];
            /** @description Which columns the means cover, or why there are no means */
            readonly means_text?: string;
            /** @description Whether the series of each workload may be compared */
            readonly outcome?: components["schemas"]["Outcome"];
        };
        /** @description The results that differ in their place on the axis alone. */
        readonly Series: {
            /** @description Eight hexadecimal digits; the value of baseline= */
            readonly id: string;
            readonly label: string;
            readonly server: string;
            readonly server_slug?: string;
            readonly version: string | null;
            readonly runtime?: string | null;
            readonly configuration?: string | null;
            readonly workload: string | null;
            readonly workload_slug?: string | null;
            readonly tool: string | null;
            readonly loop?: string;
            /** @description The load, if it is not on the x axis */
            readonly load?: string | null;
            readonly host: string | null;
            readonly host_slug?: string | null;
            readonly facet?: string | null;
            /** @description Its colour on every page */
            readonly slot: number;
            readonly points: readonly components["schemas"]["Point"][];
        };
        /** @enum {string} */
        readonly SeverityEnum: "error" | "info" | "warning";
        /** @description A run whose trials are shown. */
        readonly SourceRun: {
            /** Format: uuid */
            readonly id: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly recorded_at?: string;
            readonly url: string;
            readonly servers?: readonly string[];
            /** @description By server, the versions that it has in this run */
            readonly versions?: {
                readonly [key: string]: readonly string[];
            };
            readonly trials: number;
            /** @description Whether more trials will arrive */
            readonly open?: boolean;
        };
        /** @enum {string} */
        readonly StatusEnum: "caveats" | "comparable" | "not_comparable";
        readonly Total: {
            readonly cells: number;
            readonly trials: number;
            readonly runs: number;
        };
        /** @description How far the answer holds. */
        readonly Trust: {
            /** @description solid; care: use with care; noisy: too noisy to call; few_trials: no interval, because there are too few trials; not_comparable */
            readonly level: components["schemas"]["LevelEnum"];
            /** @description The most serious first; pages show the first three at once */
            readonly reasons: readonly components["schemas"]["TrustReason"][];
            /** @description How many reasons are not listed */
            readonly more?: number;
        };
        /** @description Why the answer is not solid, and what to do. */
        readonly TrustReason: {
            /** @description A sentence */
            readonly text: string;
            /** @description What to do, in sentences; empty if nothing helps */
            readonly remedy: string;
            /** @description The id of the check that says so */
            readonly check?: string | null;
        };
        /** @enum {string} */
        readonly VerdictEnum: "improved" | "inconclusive" | "regressed" | "size_uncertain" | "unchanged";
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Answer = components['schemas']['Answer'];
export type Axis = components['schemas']['Axis'];
export type AxisKind = components['schemas']['AxisKind'];
export type Baseline = components['schemas']['Baseline'];
export type BetterEnum = components['schemas']['BetterEnum'];
export type Capacity = components['schemas']['Capacity'];
export type CapacityRow = components['schemas']['CapacityRow'];
export type Change = components['schemas']['Change'];
export type Current = components['schemas']['Current'];
export type Curve = components['schemas']['Curve'];
export type Curves = components['schemas']['Curves'];
export type Dismissed = components['schemas']['Dismissed'];
export type Facet = components['schemas']['Facet'];
export type FacetValue = components['schemas']['FacetValue'];
export type Facets = components['schemas']['Facets'];
export type Figures = components['schemas']['Figures'];
export type FiredCheck = components['schemas']['FiredCheck'];
export type GroupEnum = components['schemas']['GroupEnum'];
export type Knee = components['schemas']['Knee'];
export type Last = components['schemas']['Last'];
export type LevelEnum = components['schemas']['LevelEnum'];
export type Links = components['schemas']['Links'];
export type Measure = components['schemas']['Measure'];
export type Metric = components['schemas']['Metric'];
export type NotRead = components['schemas']['NotRead'];
export type NullEnum = components['schemas']['NullEnum'];
export type OriginEnum = components['schemas']['OriginEnum'];
export type Outcome = components['schemas']['Outcome'];
export type Panel = components['schemas']['Panel'];
export type PhaseEnum = components['schemas']['PhaseEnum'];
export type Point = components['schemas']['Point'];
export type PointTrial = components['schemas']['PointTrial'];
export type PointTrials = components['schemas']['PointTrials'];
export type Problem = components['schemas']['Problem'];
export type Progress = components['schemas']['Progress'];
export type ProgressStateEnum = components['schemas']['ProgressStateEnum'];
export type RankRow = components['schemas']['RankRow'];
export type Ranking = components['schemas']['Ranking'];
export type Ratio = components['schemas']['Ratio'];
export type Ratios = components['schemas']['Ratios'];
export type Series = components['schemas']['Series'];
export type SeverityEnum = components['schemas']['SeverityEnum'];
export type SourceRun = components['schemas']['SourceRun'];
export type StatusEnum = components['schemas']['StatusEnum'];
export type Total = components['schemas']['Total'];
export type Trust = components['schemas']['Trust'];
export type TrustReason = components['schemas']['TrustReason'];
export type VerdictEnum = components['schemas']['VerdictEnum'];
