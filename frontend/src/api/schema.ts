// Made from docs/openapi.yaml by generate_types.mjs: run scripts/fix.
export interface components {
    schemas: {
        /** @description The program that measures, and where. */
        readonly Agent: {
            readonly name: string;
            readonly version: string;
            readonly hostname: string;
        };
        /** @description The agent that was heard last comes first. */
        readonly AgentList: {
            readonly agents: readonly components["schemas"]["AgentRow"][];
        };
        /** @description An agent: a token on a host that sent a heartbeat. */
        readonly AgentRow: {
            /** @description Of its token */
            readonly name: string;
            /**
             * Format: uuid
             * @description The id of the token, for revoking
             */
            readonly token: string;
            readonly author?: string | null;
            /** Format: date-time */
            readonly expires_at: string | null;
            readonly host: string;
            readonly program: string;
            readonly version: string;
            /** Format: date-time */
            readonly last_seen_at: string;
            /**
             * Format: uuid
             * @description Its newest run
             */
            readonly run: string | null;
            /**
             * @description Of its newest run; silent: a heartbeat is overdue
             *
             *     * `running` - running
             *     * `finished` - finished
             *     * `stopped` - stopped
             *     * `interrupted` - interrupted
             *     * `silent` - silent
             */
            readonly state: components["schemas"]["ProgressStateEnum"] | components["schemas"]["NullEnum"];
            /** @description Other hosts that use the same token: at most 5, then “and 94 more” */
            readonly shared_with: readonly string[];
        };
        /** @description Something that a rule noticed. */
        readonly Alert: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly rule: components["schemas"]["AlertRuleName"];
            readonly state: components["schemas"]["AlertState"];
            /** @description A sentence with the figures */
            readonly text: string;
            /** @description The commits or runs it lies between */
            readonly range: string | null;
            readonly commits: components["schemas"]["AlertCommits"];
            readonly runs: components["schemas"]["AlertRuns"];
            /** @description The figures behind the sentence; null is unknown */
            readonly figures: {
                readonly [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was first seen
             */
            readonly seen_at: string;
            /**
             * Format: date-time
             * @description When a second run showed it too; before, nobody is told
             */
            readonly confirmed_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            readonly url: string;
            /** @description The trend, host or agents that show it */
            readonly chart_url: string;
            /** @description The two runs side by side */
            readonly pair_url: string | null;
        };
        /**
         * @description * `acknowledged` - acknowledged
         *     * `fixed` - fixed
         *     * `not_a_regression` - not_a_regression
         * @enum {string}
         */
        readonly AlertAnswerStateEnum: "acknowledged" | "fixed" | "not_a_regression";
        /** @description A state that it got. */
        readonly AlertChange: {
            readonly state: components["schemas"]["AlertState"];
            /** @description Null: Loadsheet itself */
            readonly by: string | null;
            readonly note: string;
            /** Format: date-time */
            readonly at: string;
        };
        /** @description From the runs' labels commit, sha or revision. */
        readonly AlertCommits: {
            /** @description The last one before the alert */
            readonly good: string | null;
            /** @description The first one that shows it */
            readonly bad: string | null;
        };
        /** @description An alert with all that was said of it. */
        readonly AlertDetail: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly rule: components["schemas"]["AlertRuleName"];
            readonly state: components["schemas"]["AlertState"];
            /** @description A sentence with the figures */
            readonly text: string;
            /** @description The commits or runs it lies between */
            readonly range: string | null;
            readonly commits: components["schemas"]["AlertCommits"];
            readonly runs: components["schemas"]["AlertRuns"];
            /** @description The figures behind the sentence; null is unknown */
            readonly figures: {
                readonly [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was first seen
             */
            readonly seen_at: string;
            /**
             * Format: date-time
             * @description When a second run showed it too; before, nobody is told
             */
            readonly confirmed_at: string | null;
            /** Format: date-time */
            readonly ended_at: string | null;
            readonly url: string;
            /** @description The trend, host or agents that show it */
            readonly chart_url: string;
            /** @description The two runs side by side */
            readonly pair_url: string | null;
            readonly changes: readonly components["schemas"]["AlertChange"][];
        };
        /** @description A page of alerts. */
        readonly AlertPage: {
            readonly alerts: readonly components["schemas"]["Alert"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `regression` - Regression
         *     * `error_rate` - Error Rate
         *     * `noisy_host` - Noisy Host
         *     * `silent_agent` - Silent Agent
         * @enum {string}
         */
        readonly AlertRuleKind: "regression" | "error_rate" | "noisy_host" | "silent_agent";
        /** @description The rule of an alert. */
        readonly AlertRuleName: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly kind: components["schemas"]["AlertRuleKind"];
        };
        /** @description A run at the edge of an alert. */
        readonly AlertRun: {
            /** Format: uuid */
            readonly id: string;
            readonly url: string;
            /** Format: date-time */
            readonly at: string;
            readonly commit: string | null;
        };
        /** @description The runs that it lies between. */
        readonly AlertRuns: {
            readonly before: components["schemas"]["AlertRun"] | null;
            readonly first: components["schemas"]["AlertRun"] | null;
            readonly last: components["schemas"]["AlertRun"] | null;
        };
        /**
         * @description * `unconfirmed` - Unconfirmed
         *     * `new` - New
         *     * `acknowledged` - Acknowledged
         *     * `fixed` - Fixed
         *     * `not_a_regression` - Not A Regression
         * @enum {string}
         */
        readonly AlertState: "unconfirmed" | "new" | "acknowledged" | "fixed" | "not_a_regression";
        /** @description What a reader can conclude from a comparison. */
        readonly Answer: {
            readonly sentence: string;
            /** @description By how much, with its interval, or why nothing can be said */
            readonly margin?: string | null;
            /** @description Which series the answer leaves aside, and why: sentences */
            readonly aside?: string;
            readonly trust: components["schemas"]["Trust"];
        };
        /** @description A raw file as received. */
        readonly Artefact: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** @description The page to read it on */
            readonly url: string;
            /** @description The bytes as received */
            readonly raw_url: string;
            readonly size_bytes: number;
            readonly sha256: string;
            /**
             * Format: date-time
             * @description When the workspace's setting had its bytes removed; null: they are there
             */
            readonly removed_at: string | null;
            /** @description For how many days its bytes were kept, where they were removed */
            readonly kept_days: number | null;
        };
        /** @description What a workload asks for. Null is unknown. */
        readonly Asked: {
            /** Format: uuid */
            readonly id: string;
            readonly method: string | null;
            readonly path: string | null;
            readonly payload_bytes: number | null;
            readonly keepalive: boolean | null;
            readonly tls: boolean | null;
            readonly headers: {
                readonly [key: string]: unknown;
            };
            readonly body_bytes: number | null;
            readonly body_sha256: string | null;
        };
        /** @description One attempt to send a message. */
        readonly Attempt: {
            /** Format: date-time */
            readonly at: string;
            /** @description Of the receiver's answer; null without one */
            readonly status: number | null;
            /** @description Why it failed; empty: it did not */
            readonly reason: string;
            /** Format: double */
            readonly seconds: number;
        };
        /** @description One act. Null: the service itself, or unknown. */
        readonly AuditEvent: {
            /** Format: uuid */
            readonly id: string;
            /** Format: date-time */
            readonly at: string;
            readonly act: string;
            /** @description The act in words */
            readonly label: string;
            /** @description A user; empty: the service */
            readonly actor: string;
            /** Format: uuid */
            readonly actor_id?: string | null;
            /** @description Empty: a session, no token */
            readonly token: string;
            /** Format: uuid */
            readonly token_id?: string | null;
            readonly address?: string | null;
            /** @description The name or id of what was acted on, of that day */
            readonly subject: string;
            /** Format: uuid */
            readonly subject_id?: string | null;
            /** @description {was, is} where something changed */
            readonly detail: {
                readonly [key: string]: unknown;
            };
        };
        /** @description One page of events. */
        readonly AuditPage: {
            readonly events: readonly components["schemas"]["AuditEvent"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
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
            /** @description The highest load that is surely under it */
            readonly low: number | null;
            /** @description The highest load that may be under it */
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
        /** @description A point of a series. */
        readonly ChangedFigure: {
            readonly series: string;
            readonly label: string;
            /** @description A number, or the text of a category */
            readonly x: unknown;
            readonly trials: number;
            readonly metric: string;
            /** Format: double */
            readonly before: number | null;
            /** Format: double */
            readonly after: number | null;
            /**
             * Format: double
             * @description After ÷ before over the trials
             */
            readonly ratio: number | null;
            /** Format: double */
            readonly low: number | null;
            /** Format: double */
            readonly high: number | null;
            readonly verdict: components["schemas"]["VerdictEnum"] | components["schemas"]["NullEnum"];
            readonly why: string | null;
        };
        readonly ChangedHeadline: {
            readonly finding: string;
            readonly outcome: string;
        };
        /** @description What the same runs give now, against what was frozen. */
        readonly Changes: {
            readonly changed: boolean;
            readonly before: components["schemas"]["ChangedHeadline"];
            /** @description Null when every run is gone */
            readonly after: components["schemas"]["ChangedHeadline"] | null;
            readonly missing_runs: readonly string[];
            readonly figures: readonly components["schemas"]["ChangedFigure"][];
            readonly gone: readonly components["schemas"]["Place"][];
            readonly new: readonly components["schemas"]["Place"][];
            readonly renamed: readonly components["schemas"]["Renamed"][];
        };
        /** @description A channel. Its signing secret is asked for by itself. */
        readonly Channel: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly kind: components["schemas"]["ChannelKind"];
            readonly name: string;
            /** @description Of an address on the web, its host only; null for a token without admin */
            readonly address: string | null;
            readonly topics: readonly components["schemas"]["TopicsEnum"][];
            readonly author?: string | null;
            /** Format: date-time */
            readonly created_at: string;
        };
        /**
         * @description * `mail` - Mail
         *     * `webhook` - Webhook
         *     * `slack` - Slack
         * @enum {string}
         */
        readonly ChannelKind: "mail" | "webhook" | "slack";
        /** @description By name. */
        readonly ChannelList: {
            readonly channels: readonly components["schemas"]["Channel"][];
        };
        /** @description What the receiver of a webhook checks signatures with. */
        readonly ChannelSecret: {
            /** @description Begins with whsec_; see docs/alerts.md */
            readonly secret: string;
        };
        /** @description One field that a member set to another value, the latest first. Null is unknown. */
        readonly Correction: {
            /** Format: uuid */
            readonly id: string;
            readonly field: components["schemas"]["FieldEnum"];
            readonly label: string;
            /** @description Ordinals; null: all trials */
            readonly trials: readonly number[] | null;
            /** @description The values that it replaced */
            readonly before: readonly unknown[];
            readonly value: unknown;
            readonly author: string | null;
            /** Format: date-time */
            readonly made_at: string;
            readonly undone_by: string | null;
            /**
             * Format: date-time
             * @description Null: the correction counts
             */
            readonly undone_at: string | null;
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
        /** @description One message to a channel. */
        readonly Delivery: {
            /** Format: uuid */
            readonly id: string;
            readonly event: string;
            readonly subject: string;
            readonly state: components["schemas"]["DeliveryState"];
            readonly attempts: readonly components["schemas"]["Attempt"][];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly ended_at?: string | null;
            /** @description When it is tried next */
            readonly retry_at: string | null;
        };
        /** @description A page of messages. */
        readonly DeliveryPage: {
            readonly deliveries: readonly components["schemas"]["Delivery"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `waiting` - Waiting
         *     * `sending` - Sending
         *     * `delivered` - Delivered
         *     * `failed` - Failed
         * @enum {string}
         */
        readonly DeliveryState: "waiting" | "sending" | "delivered" | "failed";
        /** @description A page of the directory. */
        readonly DirectoryPage: {
            readonly entries: readonly components["schemas"]["Listed"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description Why the findings of a check are no caveat in a run. */
        readonly Dismissal: {
            /** @description The id of the check */
            readonly check: string;
            readonly reason: string;
            readonly author?: string | null;
            /** Format: date-time */
            readonly dismissed_at: string;
        };
        /** @description Those that are not undone, by check. */
        readonly DismissalList: {
            readonly dismissals: readonly components["schemas"]["Dismissal"][];
        };
        /** @description A check that fired in the run, and why its findings are no caveat. */
        readonly DismissalRequest: {
            /** @description The id of the check */
            readonly check: string;
            readonly reason: string;
        };
        /** @description A run in which a member said why a check's finding does not count. */
        readonly Dismissed: {
            readonly run: string;
            readonly reason: string;
            readonly by: string | null;
            /** Format: date-time */
            readonly at: string | null;
        };
        /** @description What one file holds. */
        readonly DryFile: {
            readonly name: string;
            readonly trials: readonly components["schemas"]["DryTrial"][];
            readonly refusals: readonly components["schemas"]["DryRefusal"][];
        };
        /** @description Why a result is not read. */
        readonly DryRefusal: {
            readonly sentence: string;
            readonly line: number | null;
            readonly found: string | null;
            readonly expected: string | null;
        };
        /** @description What an upload would be read as. */
        readonly DryRun: {
            readonly files: readonly components["schemas"]["DryFile"][];
        };
        /** @description A trial as it would be recorded. Null is unknown. */
        readonly DryTrial: {
            readonly server: string;
            readonly workload: string;
            readonly tool: string;
            readonly tool_version: string | null;
            readonly connections: number | null;
            /** Format: double */
            readonly rate_rps: number | null;
            /** Format: double */
            readonly throughput: number | null;
            /**
             * @description Reported: the tool's own rate, where a count or the elapsed time is unknown
             *
             *     * `computed` - computed
             *     * `reported` - reported
             */
            readonly throughput_origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /** Format: double */
            readonly p50_us: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            readonly origin: string | null;
            /** Format: double */
            readonly error_rate: number | null;
            readonly requests: number | null;
            readonly incomplete: boolean;
            /** @description The command line above the output, or empty */
            readonly command: string;
            /** @description First and last line of its output, where the file has several */
            readonly lines: readonly number[] | null;
            /** @description What was removed before it was read */
            readonly notes: readonly string[];
            readonly checks: readonly {
                readonly [key: string]: string;
            }[];
        };
        /** @description An archive of a workspace, and how far it is. */
        readonly Export: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly author?: string | null;
            readonly state?: components["schemas"]["ExportStateEnum"];
            /** Format: date-time */
            readonly requested_at: string;
            /** Format: date-time */
            readonly finished_at?: string | null;
            /** @description Rows written so far */
            readonly rows_done: number;
            /** @description Large raw files written so far */
            readonly files_done: number;
            /** @description How many there are; null while rows are written */
            readonly files_total: number | null;
            /** @description Null until it is done */
            readonly size_bytes: number | null;
            /** @description Of the archive; empty until it is done */
            readonly sha256: string;
            /**
             * Format: date-time
             * @description When it is removed
             */
            readonly expires_at: string | null;
            /** @description Why it failed, or why the last attempt did */
            readonly reason: string;
            /**
             * Format: date-time
             * @description When the next attempt begins, where the last one failed
             */
            readonly retry_at: string | null;
            /** @description The archive; empty until it is done */
            readonly file_url: string;
        };
        /** @description One page of exports. */
        readonly ExportPage: {
            readonly exports: readonly components["schemas"]["Export"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `waiting` - Waiting
         *     * `writing` - Writing
         *     * `done` - Done
         *     * `failed` - Failed
         * @enum {string}
         */
        readonly ExportStateEnum: "waiting" | "writing" | "done" | "failed";
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
        /** @description A feed token, without its clear text. */
        readonly FeedToken: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name?: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly used_at?: string | null;
        };
        /** @description One page of feed tokens. */
        readonly FeedTokenPage: {
            readonly feed_tokens: readonly components["schemas"]["FeedToken"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `server` - Server
         *     * `version` - Version
         *     * `workload` - Workload
         *     * `server_host` - Server host
         *     * `client_host` - Client host
         *     * `started_at` - Started
         *     * `labels` - Labels
         *     * `notes` - Notes
         * @enum {string}
         */
        readonly FieldEnum: "server" | "version" | "workload" | "server_host" | "client_host" | "started_at" | "labels" | "notes";
        /**
         * @description A comparison: the same on the page, here, in an export and in a frozen result set.
         *
         *     Fields that are not required are in every answer of today; they may be absent in a result set
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
            /** @description Trials that are in no figure */
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
            /** @description A member dismissed it */
            readonly dismissed?: readonly components["schemas"]["Dismissed"][];
        };
        /** @description Whether a candidate keeps its requirements against a baseline. */
        readonly Gate: {
            readonly verdict: components["schemas"]["GateVerdict"];
            /** @description The answer in one sentence */
            readonly finding: string;
            /** @description What to measure for a verdict, where it is too noisy */
            readonly settle: string | null;
            readonly candidate: components["schemas"]["GateSide"];
            readonly baseline: components["schemas"]["GateSide"];
            readonly requirements: readonly string[];
            readonly outcome: components["schemas"]["Outcome"];
            /** @description The gravest first */
            readonly rows: readonly components["schemas"]["GateRow"][];
            readonly noise: readonly components["schemas"]["GateNoise"][];
            /** @description What was left out of the judgement, and why */
            readonly notes: readonly string[];
            /** @description The page that shows the runs side by side or together */
            readonly url: string | null;
        };
        /** @description What would settle a row that is too noisy to call. */
        readonly GateAdvice: {
            /** @description Null: not even 999 more would be enough */
            readonly more: number | null;
            readonly unit: components["schemas"]["UnitEnum"];
            /** @description The chance of a verdict */
            readonly odds: number;
        };
        /** @description How far runs of the baseline differ by chance, by metric. */
        readonly GateNoise: {
            readonly metric: string;
            /** @description Standard deviation from run to run; 0.03 is 3 % */
            readonly share: number | null;
            /** @description The baseline's own runs, all runs of the host, or no record at all */
            readonly source: components["schemas"]["SourceEnum"];
            /** @description Independent comparisons between runs */
            readonly comparisons: number;
        };
        /** @description One requirement for one series at one load point. */
        readonly GateRow: {
            readonly requirement: string;
            readonly metric: string;
            readonly series: string;
            readonly x: (number | string) | null;
            /** @description The load point in words, such as at 64 connections */
            readonly at: string;
            readonly verdict: components["schemas"]["GateVerdict"];
            /** @description The row in one or two sentences */
            readonly text: string;
            /** @description From the baseline to the candidate, such as 1.31× [1.2, 1.42], 4 ms → 5 ms */
            readonly change: string | null;
            readonly baseline: components["schemas"]["PairFigure"] | null;
            readonly candidate: components["schemas"]["PairFigure"] | null;
            /** @description candidate ÷ baseline. All intervals of an answer hold together at 95 % */
            readonly ratio: components["schemas"]["Ratio"] | null;
            /** @description The smallest change that could be told; 0.05 is 5 % */
            readonly tells_from: number | null;
            /** @description Runs of the baseline since its last change, which counted */
            readonly baseline_runs: number;
            readonly advice: components["schemas"]["GateAdvice"] | null;
        };
        /** @description A run that counted. */
        readonly GateRun: {
            /** Format: uuid */
            readonly id: string;
            /** @description Its page */
            readonly url: string;
            /** Format: date-time */
            readonly started_at: string;
        };
        /** @description The candidate or the baseline. */
        readonly GateSide: {
            /** @description As it was asked for, such as label=branch:main */
            readonly asked: string;
            /** @description The newest first */
            readonly runs: readonly components["schemas"]["GateRun"][];
        };
        /** @enum {string} */
        readonly GateVerdict: "improved" | "not_comparable" | "regressed" | "too_noisy" | "unchanged";
        /** @enum {string} */
        readonly GroupEnum: "errors" | "latency" | "rate" | "resources";
        /** @description The agent, and its run where it has one. */
        readonly Heartbeat: {
            readonly agent: components["schemas"]["Agent"];
            readonly run?: components["schemas"]["Report"] | null;
        };
        readonly HostPage: {
            readonly hosts: readonly components["schemas"]["HostRow"][];
            readonly total: number;
            readonly next: string | null;
        };
        /** @description A machine as measured. Null is unknown. */
        readonly HostRow: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly runs: number;
            /** Format: date-time */
            readonly last_measured: string | null;
            readonly cpu_model: string | null;
            readonly cores: number | null;
            readonly memory_bytes: number | null;
            readonly virtualisation: string | null;
            readonly os: string | null;
            readonly kernel: string | null;
            readonly noise: components["schemas"]["Noise"];
        };
        /**
         * @description * `uploads_per_day` - uploads_per_day
         *     * `stored_bytes` - stored_bytes
         *     * `members` - members
         *     * `reads` - reads
         * @enum {string}
         */
        readonly IdEnum: "uploads_per_day" | "stored_bytes" | "members" | "reads";
        /** @description An invitation that can still be used, without its link. */
        readonly Invitation: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly role: components["schemas"]["Role"];
            /** @description Empty: the link is handed over by other means */
            readonly email: string;
            readonly author: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at: string;
        };
        /** @description One page of invitations. */
        readonly InvitationPage: {
            readonly invitations: readonly components["schemas"]["Invitation"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description Which session an agent joins, and the step of the plan it is ready for. */
        readonly Join: {
            readonly name: string;
            /** @description Number of agents */
            readonly parts: number;
            readonly plan_sha256: string;
            /**
             * Format: int64
             * @description Seeds the order of trials; the first agent gives it
             */
            readonly seed: number;
            /** Format: uuid */
            readonly run: string;
            readonly host_name: string;
            /** @description Null: the agent only joins */
            readonly step?: number | null;
        };
        /** @description What to keep. */
        readonly Keep: {
            /** @description The query string of the comparison */
            readonly query: string;
            /**
             * @description frozen: the figures as they are now; live: the question, answered anew
             *
             *     * `frozen` - Frozen
             *     * `live` - Live
             * @default frozen
             */
            readonly kind: components["schemas"]["ResultSetKind"];
            /** @default  */
            readonly title: string;
            /**
             * @description Markdown
             * @default
             */
            readonly notes: string;
            /** @default private */
            readonly visibility: components["schemas"]["VisibilityEnum"];
            /** Format: date-time */
            readonly expires_at?: string | null;
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The observation as it is kept. */
        readonly Kept: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly run: string;
            readonly samples: number;
        };
        /**
         * @description * `server` - Server
         *     * `host` - Host
         *     * `workload` - Workload
         * @enum {string}
         */
        readonly KindOfName: "server" | "host" | "workload";
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
        /** @description A text that looks like a token, as secret scanners report it. Other fields are ignored. */
        readonly Leak: {
            readonly token: string;
            /** @description Where it was seen */
            readonly url?: string;
        };
        /** @enum {string} */
        readonly LevelEnum: "care" | "noisy" | "not_comparable" | "solid";
        /** @description A limit. More is answered with `status`. */
        readonly Limit: {
            readonly name: string;
            readonly value: number;
            readonly unit: string;
            /** @description What the limit bounds */
            readonly bounds: string;
            /** @description HTTP status of the answer to more */
            readonly status: number;
        };
        /** @description The limits of this installation. */
        readonly LimitList: {
            readonly limits: readonly components["schemas"]["Limit"][];
            /** @description Those that the token or session may read */
            readonly workspaces: readonly components["schemas"]["StoredBytes"][];
        };
        /** @description The same view as page, json and csv. */
        readonly Links: {
            readonly page?: string;
            readonly json?: string;
            readonly csv?: string;
        };
        /** @description One entry of the directory. */
        readonly Listed: {
            /** Format: uuid */
            readonly id: string;
            readonly title: string;
            /** @description Its page */
            readonly url: string;
            /** Format: date-time */
            readonly created_at: string;
            /** @description The name of its workspace; null where that is not public */
            readonly workspace: string | null;
        };
        /** @description One run in the list of runs. */
        readonly ListedRun: {
            /** Format: uuid */
            readonly id: string;
            /** @description Its servers, workloads and load tools */
            readonly name: string;
            readonly workspace: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly recorded_at: string;
            /**
             * @description failed: a trial failed; partial: a part of its upload could not be read
             *
             *     * `complete` - complete
             *     * `failed` - failed
             *     * `interrupted` - interrupted
             *     * `partial` - partial
             *     * `running` - running
             */
            readonly state: components["schemas"]["RunRowStateEnum"];
            readonly interrupted: boolean;
            /** @description Its trials still come */
            readonly open: boolean;
            readonly labels: {
                readonly [key: string]: unknown;
            };
            /** @description Warm-ups included */
            readonly trials: number;
            readonly warmups: number;
            readonly failed_trials: number;
            /**
             * Format: double
             * @description The centre of the best load point, as in a comparison; in a list for a server, workload or tool, of theirs
             */
            readonly throughput_rps: number | null;
            readonly servers: readonly string[];
            readonly workloads: readonly string[];
            readonly tools: readonly string[];
            readonly server_host: string | null;
            readonly url: string;
            /** @description Its trials as the run itself has them, if expanded */
            readonly trial_details?: readonly components["schemas"]["Trial"][];
        };
        /** @description A new feed token. Its clear text, and the addresses with it, are in this answer only. */
        readonly MadeFeedToken: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name?: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly used_at?: string | null;
            /** @description The clear text */
            readonly token: string;
            /** @description The feed of alerts */
            readonly alerts_url: string;
            /** @description The feed of runs and result sets */
            readonly workspace_url: string;
        };
        /** @description A new invitation. Its link is in this answer only, and in the mail. */
        readonly MadeInvitation: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly role: components["schemas"]["Role"];
            /** @description Empty: the link is handed over by other means */
            readonly email: string;
            readonly author: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at: string;
            /** @description Whoever opens it joins, once */
            readonly url: string;
            /** @description Whether a mail server took the mail */
            readonly is_sent: boolean;
        };
        /** @description A new token. Its clear text is in this answer only. */
        readonly MadeToken: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name?: string;
            readonly scopes: readonly string[];
            readonly networks: readonly string[];
            readonly author?: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at?: string | null;
            /** Format: date-time */
            readonly used_at?: string | null;
            /** Format: date-time */
            readonly revoked_at?: string | null;
            /** Format: date-time */
            readonly leaked_at?: string | null;
            /** @description The clear text */
            readonly token: string;
        };
        /** @description Who asks, and what time it is here. */
        readonly Me: {
            readonly kind: components["schemas"]["MeKindEnum"];
            /** @description Of the token or the user */
            readonly name: string;
            /** @description Empty for a user */
            readonly scopes: readonly string[];
            /**
             * Format: date-time
             * @description Null for a user
             */
            readonly expires_at: string | null;
            readonly workspaces: readonly components["schemas"]["Workspace"][];
            /**
             * Format: date-time
             * @description When this was answered, by the service's clock
             */
            readonly time: string;
        };
        /**
         * @description * `token` - token
         *     * `user` - user
         * @enum {string}
         */
        readonly MeKindEnum: "token" | "user";
        /** @description One figure of a point: the centre of its trials, its interval and every trial's value. */
        readonly Measure: {
            /** @description Geometric mean of the trials, run by run; of errors, the share of attempts */
            readonly value: number | null;
            /** @description Null with fewer than 3 trials */
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
            /** @description The smallest step of a latency that the load tool prints, in µs: a smaller figure is only known to be below it */
            readonly step?: number;
            /** @description Positions in `each` of trials that are too far off to count, if any */
            readonly set_aside?: readonly number[];
        };
        /** @description A person in a workspace. */
        readonly Member: {
            /**
             * Format: uuid
             * @description Of the person
             */
            readonly id: string;
            readonly workspace: string;
            readonly name: string;
            readonly role: components["schemas"]["Role"];
        };
        /** @description One page of members. */
        readonly MemberPage: {
            readonly members: readonly components["schemas"]["Member"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description Two names of one server, host or workload. */
        readonly Merge: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly kind: components["schemas"]["KindOfName"];
            readonly source: string;
            readonly target: string;
            readonly author?: string | null;
            /** Format: date-time */
            readonly merged_at?: string;
            readonly undone_by?: string | null;
            /** Format: date-time */
            readonly undone_at?: string | null;
        };
        readonly MergeList: {
            readonly merges: readonly components["schemas"]["Merge"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description Everything of the name `source` gets the name `target`. */
        readonly MergeRequest: {
            /** @description Slug; a token has its own */
            readonly workspace?: string;
            readonly kind: components["schemas"]["KindOfName"];
            readonly source: string;
            readonly target: string;
        };
        /** @description What can be measured, its unit, and which direction is better. */
        readonly Metric: {
            readonly id: string;
            readonly label: string;
            readonly unit: string;
            readonly better: components["schemas"]["BetterEnum"];
            readonly group?: components["schemas"]["GroupEnum"];
        };
        /**
         * @description * `p99` - p99
         *     * `throughput` - throughput
         * @enum {string}
         */
        readonly MetricsEnum: "p99" | "throughput";
        /** @description Where messages shall go. */
        readonly NewChannel: {
            readonly kind: components["schemas"]["ChannelKind"];
            /** @description Unique in the workspace */
            readonly name: string;
            /** @description mail: the e-mail address of a member; webhook, slack: an https:// address */
            readonly address: string;
            /** @description Left out: alerts */
            readonly topics?: readonly components["schemas"]["TopicsEnum"][];
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The archive to write. */
        readonly NewExport: {
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The feed token to make. */
        readonly NewFeedToken: {
            /**
             * @description Which feed reader it is for
             * @default
             */
            readonly name: string;
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description Whom to invite, and as what. */
        readonly NewInvitation: {
            readonly role: components["schemas"]["Role"];
            /**
             * @description Where the link is sent, if the service sends mail; left out: nowhere
             * @default
             */
            readonly email: string;
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description What to watch. */
        readonly NewRule: {
            /** @description Unique in the workspace */
            readonly name: string;
            /**
             * Format: uuid
             * @description The saved view whose runs are watched (regression, error_rate)
             */
            readonly view?: string;
            /** @description Only runs with this label, such as branch:main */
            readonly label?: string;
            /** @description Of a regression */
            readonly metrics?: readonly components["schemas"]["MetricsEnum"][];
            /**
             * Format: double
             * @description error_rate, noisy_host: a share (0.01 is 1 %); silent_agent: hours
             */
            readonly threshold?: number;
            readonly is_enabled?: boolean;
            readonly kind: components["schemas"]["AlertRuleKind"];
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The token to make. */
        readonly NewToken: {
            /** @description What it is for */
            readonly name: string;
            /** @description What it may do */
            readonly scopes: readonly components["schemas"]["ScopesEnum"][];
            /**
             * @description After how many days it expires; null: never
             * @default 365
             */
            readonly days: number | null;
            /** @description Networks (CIDR) that it is accepted from; none: from everywhere */
            readonly networks?: readonly string[];
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description What to save. */
        readonly NewView: {
            /** @description Unique in the workspace */
            readonly name: string;
            /** @description The query string of the comparison */
            readonly query: string;
            /** @default false */
            readonly is_default: boolean;
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The workspace to make. */
        readonly NewWorkspace: {
            readonly name: string;
            /**
             * @description The part of its address; left out: made from the name
             * @default
             */
            readonly slug: string;
        };
        /** @description How noisy a host is. Null is unknown. */
        readonly Noise: {
            /**
             * Format: double
             * @description Two equal servers differ by less than this share in 95 % of comparisons
             */
            readonly floor_share: number | null;
            /** @description Independent A/A comparisons behind it */
            readonly comparisons: number;
            /**
             * Format: date-time
             * @description When the latest was measured
             */
            readonly latest: string | null;
            /**
             * Format: double
             * @description Standard deviation of the log of throughput between runs, beyond trial noise
             */
            readonly run_sd: number | null;
            /** @description Its degrees of freedom */
            readonly run_freedom: number;
            readonly text: string;
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
        };
        readonly NullEnum: null;
        /** @description What an agent on the server host saw in some time. */
        readonly Observation: {
            /**
             * Format: uuid
             * @description Made by the agent; sent again it is the same
             */
            readonly id: string;
            /** @description As a host of an envelope */
            readonly host: unknown;
            /**
             * Format: double
             * @description To how much the times are known
             */
            readonly uncertainty_s: number;
            readonly samples: readonly components["schemas"]["Sample"][];
        };
        /**
         * @description * `computed` - computed
         *     * `reported` - reported
         * @enum {string}
         */
        readonly OriginEnum: "computed" | "reported";
        /** @description Whether the series may be compared at all. */
        readonly Outcome: {
            readonly status: components["schemas"]["StatusEnum"];
            /** @description Ids of what differs */
            readonly differing: readonly string[];
            /** @description Sentences, the gravest first */
            readonly reasons: readonly string[];
            /** @description The one thing that differs */
            readonly intent?: string | null;
            /** @description What differs together */
            readonly confounded?: readonly string[];
            /** @description Ranked although not comparable */
            readonly overridden?: boolean;
        };
        /** @description Two runs, or two versions of a server, side by side. */
        readonly Pair: {
            readonly a: components["schemas"]["PairSide"];
            readonly b: components["schemas"]["PairSide"];
            readonly finding: string;
            readonly outcome: components["schemas"]["Outcome"];
            /** @description Whether to trust the finding */
            readonly trust: components["schemas"]["Trust"];
            /** @description What a load point counts */
            readonly axis: string;
            readonly differences: readonly components["schemas"]["PairDifference"][];
            /** @description Names of conditions that do not differ */
            readonly alike: readonly string[];
            readonly pairs: readonly components["schemas"]["SeriesPair"][];
            /** @description Series that b has none like */
            readonly only_a: readonly string[];
            readonly only_b: readonly string[];
        };
        /** @description Something that differs between the sides. */
        readonly PairDifference: {
            readonly topic: components["schemas"]["TopicEnum"];
            readonly name: string;
            readonly a: string | null;
            readonly b: string | null;
            /** @description What it means for the comparison */
            readonly meaning?: string | null;
        };
        /** @description The figure of one side. */
        readonly PairFigure: {
            readonly value: number | null;
            /** @description Null with fewer than 3 trials */
            readonly low: number | null;
            readonly high: number | null;
            /** @description The smallest step of a latency that the tool prints, µs */
            readonly step: number | null;
        };
        /** @description One metric at one load point. */
        readonly PairRow: {
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly metric: string;
            readonly a: components["schemas"]["PairFigure"] | null;
            readonly b: components["schemas"]["PairFigure"] | null;
            /** @description b ÷ a. The intervals of one metric and load point hold together at 95 %. Null where the sides may not be compared, and for errors */
            readonly ratio: components["schemas"]["Ratio"] | null;
            /** @description The ratio as it stands on pages */
            readonly text: string | null;
        };
        /** @description One of the two. */
        readonly PairSide: {
            readonly kind: components["schemas"]["PairSideKindEnum"];
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            /** @description Its page */
            readonly url: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** @description Without warm-ups */
            readonly trials: number;
            /** @description Load points */
            readonly points: number;
        };
        /** @enum {string} */
        readonly PairSideKindEnum: "run" | "server";
        /** @description One panel of a comparison that facet= divides. */
        readonly Panel: {
            readonly value: string;
            readonly series: readonly string[];
            readonly finding: string;
            readonly outcome: components["schemas"]["Outcome"];
            readonly ranking: components["schemas"]["Ranking"] | null;
        };
        /** @description A part that is there, durably. */
        readonly Part: {
            /** @description SHA-256 of the whole */
            readonly artefact: string;
            readonly number: number;
            /** @description SHA-256 of the part */
            readonly sha256: string;
            readonly size_bytes: number;
        };
        /** @description What is there of an upload. */
        readonly PartList: {
            /** @description The whole upload is: its parts are done with */
            readonly received: boolean;
            readonly parts: readonly components["schemas"]["Part"][];
        };
        /** @description What a member says of an alert. */
        readonly PatchedAlertAnswer: {
            readonly state?: components["schemas"]["AlertAnswerStateEnum"];
            /** @default  */
            readonly note: string;
        };
        /** @description What to change; what is left out stays. The title of a frozen one is part of its bytes. */
        readonly PatchedEdit: {
            readonly title?: string;
            readonly notes?: string;
            readonly visibility?: components["schemas"]["VisibilityEnum"];
            /** Format: date-time */
            readonly expires_at?: string | null;
            /**
             * Format: uuid
             * @description The id of the newer one, of the same workspace
             */
            readonly superseded_by?: string | null;
        };
        /** @description The role to give. */
        readonly PatchedRole: {
            readonly role?: components["schemas"]["Role"];
        };
        /** @description What to change; what is left out stays. */
        readonly PatchedRuleEdit: {
            readonly name?: string;
            /**
             * Format: uuid
             * @description The saved view whose runs are watched (regression, error_rate)
             */
            readonly view?: string;
            /** @description Only runs with this label, such as branch:main */
            readonly label?: string;
            /** @description Of a regression */
            readonly metrics?: readonly components["schemas"]["MetricsEnum"][];
            /**
             * Format: double
             * @description error_rate, noisy_host: a share (0.01 is 1 %); silent_agent: hours
             */
            readonly threshold?: number;
            readonly is_enabled?: boolean;
        };
        /** @description What to correct; what is left out stays. Null is unknown. */
        readonly PatchedRunEdit: {
            readonly server?: string;
            readonly version?: string | null;
            readonly workload?: string;
            readonly server_host?: string | null;
            readonly client_host?: string | null;
            /** Format: date-time */
            readonly started_at?: string | null;
            /** @description All of them */
            readonly labels?: {
                readonly [key: string]: string;
            };
            readonly notes?: string;
            /** @description Only these trials, by ordinal: for server, version and workload */
            readonly trials?: readonly number[];
        };
        /** @description Who may read the run from now on. */
        readonly PatchedSharingEdit: {
            readonly visibility?: components["schemas"]["VisibilityEnum"];
        };
        /** @description What to change; what is left out stays. */
        readonly PatchedViewEdit: {
            readonly name?: string;
            /** @description The query string of the comparison */
            readonly query?: string;
            /** @description Whether Compare in the menu opens it; at most one view is default */
            readonly is_default?: boolean;
        };
        /** @description The settings to change; what is left out stays. */
        readonly PatchedWorkspaceEdit: {
            readonly name?: string;
            /** @description The part of its address; links with the former one lead to the new one */
            readonly slug?: string;
            /** @description Whether everyone may read its runs; for owners */
            readonly is_public?: boolean;
            /**
             * Format: double
             * @description Differences below this share are called not relevant
             */
            readonly relevant_share?: number;
            /** @description With fewer trials per load point, a comparison warns */
            readonly min_trials?: number;
            /** @description Facts of the hosts that must match; null: the defaults */
            readonly must_match?: readonly ("cpu" | "cores" | "virtualisation" | "client_cpu" | "client_cores" | "same_host" | "kernel" | "os" | "memory" | "host" | "client_kernel" | "governor" | "client_governor" | "client_host")[] | null;
            /** @description Days that raw output is kept after it came; null: for ever */
            readonly raw_kept_days?: number | null;
            /**
             * @description Needed where raw_kept_days removes raw output now
             * @default false
             */
            readonly is_confirmed: boolean;
        };
        /**
         * @description * `warmup` - warmup
         *     * `measure` - measure
         *     * `search` - search
         *     * `confirm` - confirm
         * @enum {string}
         */
        readonly PhaseEnum: "warmup" | "measure" | "search" | "confirm";
        /** @description A point of a series. */
        readonly Place: {
            readonly series: string;
            readonly label: string;
            /** @description A number, or the text of a category */
            readonly x: unknown;
            readonly trials: number;
        };
        /** @description A series at one place on the axis: the trials of its cells, pooled. */
        readonly Point: {
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly cell: string;
            readonly cells?: readonly string[];
            readonly trials: number;
            /** @description Whether the offered rate was not reached */
            readonly overload: boolean | null;
            /** @description Throughput, p50, p99, error_rate and the asked metric, by their ids */
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Measure"] | null;
            };
            /** @description Shares of the attempts by class; null where the load tool does not tell */
            readonly errors?: {
                readonly [key: string]: number | null;
            } | null;
            readonly checks: readonly string[];
            /** @description For each trial, the position of its run */
            readonly runs?: readonly number[];
        };
        /** @description One trial of a point. Null is unknown. */
        readonly PointTrial: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly run: string;
            /** @description Of the trial, else of its run */
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
             * @description silent: the run did not end, and a heartbeat of its agent is overdue
             *
             *     * `running` - running
             *     * `finished` - finished
             *     * `stopped` - stopped
             *     * `interrupted` - interrupted
             *     * `silent` - silent
             */
            readonly state: components["schemas"]["ProgressStateEnum"];
            /** @description Trials that are recorded here */
            readonly trials_recorded: number;
            /** @description As the agent counts */
            readonly trials_done: number | null;
            readonly trials_planned: number | null;
            readonly current: components["schemas"]["Current"] | null;
            readonly last: components["schemas"]["Last"] | null;
            /**
             * Format: double
             * @description As the agent estimated at its last heartbeat
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
        };
        /** @description The series at one place on the axis, the best first. */
        readonly Ranking: {
            /** @description A number, or the name of a category */
            readonly x: number | string;
            readonly metric: string;
            /** @description The id of its series */
            readonly baseline: string | null;
            readonly rows: readonly components["schemas"]["RankRow"][];
            /** @description Series that are too many to be compared */
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
        };
        /** @description Servers × workloads, each cell within its own workload. */
        readonly Ratios: {
            readonly baseline: components["schemas"]["Baseline"];
            readonly rows: readonly string[];
            readonly columns: readonly string[];
            /** @description The place that each column is compared at */
            readonly loads?: readonly (number | string)[];
            readonly cells: readonly (readonly (components["schemas"]["Ratio"] | null)[])[];
            /** @description The geometric mean of each row */
            readonly means?: readonly (components["schemas"]["Ratio"] | null)[];
            /** @description The columns of the means */
            readonly means_over?: readonly string[];
            /** @description Over which columns the means are, or why there are none */
            readonly means_text?: string;
            /** @description Whether the series of each workload may be compared */
            readonly outcome?: components["schemas"]["Outcome"];
        };
        /** @description A result set, asked for by itself. */
        readonly ReadResultSet: {
            /**
             * Format: uuid
             * @description Another one after the link was revoked
             */
            readonly id: string;
            readonly workspace: string;
            readonly kind: components["schemas"]["ResultSetKind"];
            readonly state: components["schemas"]["ResultSetState"];
            readonly title: string;
            readonly notes?: string;
            readonly author: string | null;
            readonly query?: string;
            readonly visibility?: components["schemas"]["VisibilityEnum"];
            /** @description Who may read it now, and why */
            readonly readers: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at?: string | null;
            /** @description The page of the newer result set, where the reader may see it */
            readonly superseded_by: string | null;
            /** Format: date-time */
            readonly withdrawn_at: string | null;
            readonly withdrawn_reason: string | null;
            /** @description Of the bytes at json_url; null when live */
            readonly sha256: string | null;
            /** @description Runs since then that the question shows as well; null where it is not known, and of a frozen one for those who may not read the runs of its workspace */
            readonly newer_runs: number | null;
            /** @description The page */
            readonly url: string;
            /** @description The snapshot, byte for byte */
            readonly json_url: string;
            readonly csv_url: string;
            /** @description The chart as an image */
            readonly png_url: string;
            /** @description An SVG for a README */
            readonly badge_url: string;
            /** @description To be framed by other pages; null while it is private */
            readonly embed_url: string | null;
            /** @description If expanded: as in the bytes at json_url */
            readonly figures?: {
                readonly [key: string]: unknown;
            };
        };
        /** @description One trial, asked for by itself. */
        readonly ReadTrial: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly run: string;
            readonly ordinal: number;
            /** Format: uuid */
            readonly cell: string;
            readonly server: string;
            readonly workload: string;
            readonly tool: string;
            readonly loop: string;
            readonly connections: number | null;
            /** Format: double */
            readonly rate_rps: number | null;
            readonly repeat: number | null;
            readonly warmup: boolean;
            /**
             * @description What the trial was for
             *
             *     * `warmup` - warmup
             *     * `measure` - measure
             *     * `search` - search
             *     * `confirm` - confirm
             */
            readonly phase: components["schemas"]["PhaseEnum"] | components["schemas"]["NullEnum"];
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: double */
            readonly elapsed_s: number | null;
            /**
             * Format: double
             * @description Completed responses / elapsed, else the rate the tool printed
             */
            readonly throughput: number | null;
            /**
             * @description Reported: the tool's own rate, where a count or the elapsed time is unknown
             *
             *     * `computed` - computed
             *     * `reported` - reported
             */
            readonly throughput_origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /**
             * Format: double
             * @description The rate the tool printed
             */
            readonly reported_rps: number | null;
            /** Format: double */
            readonly p50_us: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            readonly origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /** Format: double */
            readonly error_rate: number | null;
            readonly errors: {
                readonly [key: string]: unknown;
            };
            readonly requests: number | null;
            readonly checks: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description What the agent measured of server and client */
            readonly resources: {
                readonly [key: string]: unknown;
            };
            /** @description The load as the agent asked for it */
            readonly load: {
                readonly [key: string]: unknown;
            };
            readonly command: string;
            readonly exit_code: number | null;
            readonly incomplete: boolean;
            readonly error: string;
            /** @description What the server printed last, of a failed trial */
            readonly server_tail: string;
            readonly artefacts: readonly components["schemas"]["Artefact"][];
            /** @description If expanded; null: the output has no time series */
            readonly timeline?: components["schemas"]["Timeline"] | null;
        };
        /** @description A name, and the name that links with it lead to. */
        readonly Rename: {
            readonly kind: components["schemas"]["KindOfName"];
            readonly former: string;
            /** @description As it is stored */
            readonly current: string;
        };
        /** @description Everything of the name `former` gets the name `current`. */
        readonly RenameRequest: {
            /** @description Slug; a token has its own */
            readonly workspace?: string;
            readonly kind: components["schemas"]["KindOfName"];
            readonly former: string;
            readonly current: string;
        };
        readonly Renamed: {
            readonly before: string;
            readonly after: string;
        };
        /** @description How far the run of the agent is. */
        readonly Report: {
            /**
             * Format: uuid
             * @description The run's: the id its upload will have
             */
            readonly id: string;
            readonly state: components["schemas"]["ReportStateEnum"];
            readonly trials_planned?: number | null;
            readonly trials_done: number;
            readonly current?: components["schemas"]["Current"] | null;
            readonly last?: components["schemas"]["Last"] | null;
            /** Format: double */
            readonly seconds_left?: number | null;
            /**
             * Format: double
             * @description The agent sends nothing for this time, because it measures a trial
             * @default 0
             */
            readonly silent_s: number;
        };
        /**
         * @description * `running` - Running
         *     * `finished` - Finished
         *     * `stopped` - Stopped
         *     * `interrupted` - Interrupted
         * @enum {string}
         */
        readonly ReportStateEnum: "running" | "finished" | "stopped" | "interrupted";
        /** @description One reading of the run's files again, by another version of the parser. */
        readonly Rereading: {
            /** Format: date-time */
            readonly read_at: string;
            readonly from_version: string;
            readonly to_version: string;
            /** @description ordinal, figure, before and after of each */
            readonly changes: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description Why the parser could read nothing, so the earlier figures stay; else empty */
            readonly refused: string;
            /** @description What ended the parser before it answered, so the earlier figures stay: memory, CPU time, a crash or a kill; else empty */
            readonly stopped: string;
        };
        /** @description A saved comparison with its link. The snapshot of a frozen result set never changes. */
        readonly ResultSet: {
            /**
             * Format: uuid
             * @description Another one after the link was revoked
             */
            readonly id: string;
            readonly workspace: string;
            readonly kind: components["schemas"]["ResultSetKind"];
            readonly state: components["schemas"]["ResultSetState"];
            readonly title: string;
            readonly notes?: string;
            readonly author: string | null;
            readonly query?: string;
            readonly visibility?: components["schemas"]["VisibilityEnum"];
            /** @description Who may read it now, and why */
            readonly readers: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at?: string | null;
            /** @description The page of the newer result set, where the reader may see it */
            readonly superseded_by: string | null;
            /** Format: date-time */
            readonly withdrawn_at: string | null;
            readonly withdrawn_reason: string | null;
            /** @description Of the bytes at json_url; null when live */
            readonly sha256: string | null;
            /** @description Runs since then that the question shows as well; null where it is not known, and of a frozen one for those who may not read the runs of its workspace */
            readonly newer_runs: number | null;
            /** @description The page */
            readonly url: string;
            /** @description The snapshot, byte for byte */
            readonly json_url: string;
            readonly csv_url: string;
            /** @description The chart as an image */
            readonly png_url: string;
            /** @description An SVG for a README */
            readonly badge_url: string;
            /** @description To be framed by other pages; null while it is private */
            readonly embed_url: string | null;
        };
        /**
         * @description * `frozen` - Frozen
         *     * `live` - Live
         * @enum {string}
         */
        readonly ResultSetKind: "frozen" | "live";
        /** @description Newest first. */
        readonly ResultSetList: {
            readonly result_sets: readonly components["schemas"]["ResultSet"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `current` - Current
         *     * `superseded` - Superseded
         *     * `expired` - Expired
         *     * `withdrawn` - Withdrawn
         * @enum {string}
         */
        readonly ResultSetState: "current" | "superseded" | "expired" | "withdrawn";
        /**
         * @description * `viewer` - Viewer
         *     * `member` - Member
         *     * `admin` - Admin
         *     * `owner` - Owner
         * @enum {string}
         */
        readonly Role: "viewer" | "member" | "admin" | "owner";
        /** @description A rule. */
        readonly Rule: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name: string;
            readonly kind: components["schemas"]["AlertRuleKind"];
            /**
             * Format: uuid
             * @description Null: not used, or deleted since
             */
            readonly view: string | null;
            readonly label?: string;
            readonly metrics: readonly string[];
            /** Format: double */
            readonly threshold: number | null;
            readonly is_enabled?: boolean;
            /** @description Why it could not be evaluated the last time; empty: it could */
            readonly problem: string;
            readonly author?: string | null;
            /** Format: date-time */
            readonly created_at: string;
        };
        /** @description By name. */
        readonly RuleList: {
            readonly rules: readonly components["schemas"]["Rule"][];
        };
        /** @description A run with its hosts and every trial, warm-ups included. */
        readonly Run: {
            /** Format: uuid */
            readonly id: string;
            /** @description Its servers, workloads and load tools */
            readonly name: string;
            readonly workspace: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly finished_at: string | null;
            /** Format: date-time */
            readonly recorded_at: string;
            /**
             * @description failed: a trial failed; partial: a part of its upload could not be read
             *
             *     * `complete` - complete
             *     * `failed` - failed
             *     * `interrupted` - interrupted
             *     * `partial` - partial
             *     * `running` - running
             */
            readonly state: components["schemas"]["RunRowStateEnum"];
            /** @description How many results of its upload could not be read, then why; empty: none */
            readonly not_read: readonly string[];
            readonly interrupted: boolean;
            /** @description Its trials still come */
            readonly open: boolean;
            /** @description Warm-ups included */
            readonly trials_planned: number | null;
            readonly same_host: boolean | null;
            readonly labels: {
                readonly [key: string]: unknown;
            };
            readonly notes: string;
            readonly plan: string;
            readonly plan_sha256: string;
            /** @description name, version, hostname; empty where none was said */
            readonly agent: {
                readonly [key: string]: unknown;
            };
            /** @description name and parts of several agents; empty else */
            readonly session: {
                readonly [key: string]: unknown;
            };
            /** @description Of the order of the trials */
            readonly seed: number | null;
            /** @description The rule of the plan that ended it early, or empty */
            readonly stopped: string;
            /** @description at, kind and text of what happened beside trials */
            readonly events: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description server, workload, rate_rps, confirmed of searches */
            readonly max_rates: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description What each server printed last, by its name */
            readonly server_tails: {
                readonly [key: string]: unknown;
            };
            readonly hosts: readonly {
                readonly [key: string]: unknown;
            }[];
            readonly rereadings: readonly components["schemas"]["Rereading"][];
            readonly corrections: readonly components["schemas"]["Correction"][];
            readonly trials: readonly components["schemas"]["Trial"][];
        };
        /** @description One page of runs. */
        readonly RunPage: {
            readonly runs: readonly components["schemas"]["ListedRun"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description One run in the list. */
        readonly RunRow: {
            /** Format: uuid */
            readonly id: string;
            /** @description Its servers, workloads and load tools */
            readonly name: string;
            readonly workspace: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly recorded_at: string;
            /**
             * @description failed: a trial failed; partial: a part of its upload could not be read
             *
             *     * `complete` - complete
             *     * `failed` - failed
             *     * `interrupted` - interrupted
             *     * `partial` - partial
             *     * `running` - running
             */
            readonly state: components["schemas"]["RunRowStateEnum"];
            readonly interrupted: boolean;
            /** @description Its trials still come */
            readonly open: boolean;
            readonly labels: {
                readonly [key: string]: unknown;
            };
            /** @description Warm-ups included */
            readonly trials: number;
            readonly warmups: number;
            readonly failed_trials: number;
            /**
             * Format: double
             * @description The centre of the best load point, as in a comparison; in a list for a server, workload or tool, of theirs
             */
            readonly throughput_rps: number | null;
            readonly servers: readonly string[];
            readonly workloads: readonly string[];
            readonly tools: readonly string[];
            readonly server_host: string | null;
            readonly url: string;
        };
        /**
         * @description * `complete` - complete
         *     * `failed` - failed
         *     * `interrupted` - interrupted
         *     * `partial` - partial
         *     * `running` - running
         * @enum {string}
         */
        readonly RunRowStateEnum: "complete" | "failed" | "interrupted" | "partial" | "running";
        /** @description The server at one moment. Null is unknown. */
        readonly Sample: {
            /**
             * Format: double
             * @description Seconds since 1970 by the service's clock
             */
            readonly at_s: number;
            /** Format: double */
            readonly cpu_s?: number | null;
            /** Format: int64 */
            readonly rss_bytes?: number | null;
            /** Format: int64 */
            readonly threads?: number | null;
            /** Format: int64 */
            readonly processes?: number | null;
            /** Format: int64 */
            readonly time_wait?: number | null;
            /** @description Busy share of each core since the sample before */
            readonly cores?: readonly number[] | null;
        };
        /**
         * @description * `runs:read` - read and compare runs
         *     * `runs:write` - upload runs; with runs:read also change, share and delete them
         *     * `agent` - what an agent sends: uploads, heartbeats, sessions and observations
         *     * `admin` - manage members, tokens and channels, and read the audit log
         * @enum {string}
         */
        readonly ScopesEnum: "runs:read" | "runs:write" | "agent" | "admin";
        /** @description One stretch of a trial. Null is unknown. */
        readonly Second: {
            /**
             * Format: double
             * @description Since the trial's first request
             */
            readonly start_s: number;
            /** Format: double */
            readonly length_s: number;
            readonly completed: number | null;
            readonly failed: number | null;
            /**
             * Format: double
             * @description The tool's own rate, where it gives no counts
             */
            readonly reported_rps: number | null;
            /** Format: double */
            readonly p50_us: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            /** Format: double */
            readonly max_us: number | null;
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
            /** @description The load where it is not on the x axis */
            readonly load?: string | null;
            readonly host: string | null;
            readonly host_slug?: string | null;
            readonly facet?: string | null;
            /** @description Its colour on every page */
            readonly slot: number;
            readonly points: readonly components["schemas"]["Point"][];
        };
        /** @description A series of each side that are held against each other. */
        readonly SeriesPair: {
            /** @description Its name */
            readonly a: string;
            readonly b: string;
            /** @description The colour of its server */
            readonly slot: number;
            readonly finding: string;
            readonly outcome: components["schemas"]["Outcome"];
            readonly rows: readonly components["schemas"]["PairRow"][];
        };
        readonly ServerPage: {
            readonly servers: readonly components["schemas"]["ServerRow"][];
            readonly total: number;
            readonly next: string | null;
        };
        /** @description A server by its name, with every version and configuration of it. */
        readonly ServerRow: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly runs: number;
            readonly load_points: number;
            /** Format: date-time */
            readonly last_measured: string | null;
            readonly variants: readonly components["schemas"]["Variant"][];
        };
        /** @description How many agents joined, and when the trial begins once all are ready. */
        readonly Session: {
            readonly seats: number;
            readonly parts: number;
            readonly seed: number;
            /** Format: date-time */
            readonly starts_at: string | null;
            /**
             * Format: date-time
             * @description Now, by the service's clock
             */
            readonly time: string;
        };
        /** @enum {string} */
        readonly SeverityEnum: "error" | "info" | "warning";
        /** @description A correction of a shared run that counts: without who made it. */
        readonly SharedCorrection: {
            /** Format: uuid */
            readonly id: string;
            readonly field: components["schemas"]["FieldEnum"];
            readonly label: string;
            /** @description Ordinals; null: all trials */
            readonly trials: readonly number[] | null;
            /** @description The values that it replaced; empty for notes and labels */
            readonly before: readonly unknown[];
            /** @description Null too for former notes and labels */
            readonly value: unknown;
            /** Format: date-time */
            readonly made_at: string;
        };
        /** @description A run as the readers of its link get it. */
        readonly SharedRun: {
            /** Format: uuid */
            readonly id: string;
            /** @description Its servers, workloads and load tools */
            readonly name: string;
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: date-time */
            readonly finished_at: string | null;
            /** Format: date-time */
            readonly recorded_at: string;
            /**
             * @description failed: a trial failed; partial: a part of its upload could not be read
             *
             *     * `complete` - complete
             *     * `failed` - failed
             *     * `interrupted` - interrupted
             *     * `partial` - partial
             *     * `running` - running
             */
            readonly state: components["schemas"]["RunRowStateEnum"];
            /** @description How many results of its upload could not be read; empty: none */
            readonly not_read: readonly string[];
            readonly interrupted: boolean;
            /** @description Its trials still come */
            readonly open: boolean;
            /** @description Warm-ups included */
            readonly trials_planned: number | null;
            readonly same_host: boolean | null;
            readonly labels: {
                readonly [key: string]: unknown;
            };
            readonly notes: string;
            readonly plan: string;
            readonly plan_sha256: string;
            /** @description name, version, hostname; empty where none was said */
            readonly agent: {
                readonly [key: string]: unknown;
            };
            /** @description Of the order of the trials */
            readonly seed: number | null;
            /** @description The rule of the plan that ended it early, or empty */
            readonly stopped: string;
            /** @description at, kind and text of what happened beside trials */
            readonly events: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description server, workload, rate_rps, confirmed of searches */
            readonly max_rates: readonly {
                readonly [key: string]: unknown;
            }[];
            readonly hosts: readonly {
                readonly [key: string]: unknown;
            }[];
            readonly rereadings: readonly components["schemas"]["Rereading"][];
            readonly corrections: readonly components["schemas"]["SharedCorrection"][];
            readonly trials: readonly components["schemas"]["SharedTrial"][];
            /**
             * @description Never private
             *
             *     * `private` - Private
             *     * `unlisted` - Unlisted
             *     * `public` - Public
             */
            readonly visibility: components["schemas"]["VisibilityEnum"];
        };
        /** @description A trial of a shared run: without its output, and what its server printed. */
        readonly SharedTrial: {
            /** Format: uuid */
            readonly id: string;
            readonly ordinal: number;
            /** Format: uuid */
            readonly cell: string;
            readonly server: string;
            readonly workload: string;
            readonly tool: string;
            readonly loop: string;
            readonly connections: number | null;
            /** Format: double */
            readonly rate_rps: number | null;
            readonly repeat: number | null;
            readonly warmup: boolean;
            /**
             * @description What the trial was for
             *
             *     * `warmup` - warmup
             *     * `measure` - measure
             *     * `search` - search
             *     * `confirm` - confirm
             */
            readonly phase: components["schemas"]["PhaseEnum"] | components["schemas"]["NullEnum"];
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: double */
            readonly elapsed_s: number | null;
            /**
             * Format: double
             * @description Completed responses / elapsed, else the rate the tool printed
             */
            readonly throughput: number | null;
            /**
             * @description Reported: the tool's own rate, where a count or the elapsed time is unknown
             *
             *     * `computed` - computed
             *     * `reported` - reported
             */
            readonly throughput_origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /**
             * Format: double
             * @description The rate the tool printed
             */
            readonly reported_rps: number | null;
            /** Format: double */
            readonly p50_us: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            readonly origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /** Format: double */
            readonly error_rate: number | null;
            readonly errors: {
                readonly [key: string]: unknown;
            };
            readonly requests: number | null;
            readonly checks: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description What the agent measured of server and client */
            readonly resources: {
                readonly [key: string]: unknown;
            };
            /** @description The load as the agent asked for it */
            readonly load: {
                readonly [key: string]: unknown;
            };
            readonly command: string;
            readonly exit_code: number | null;
            readonly incomplete: boolean;
            readonly error: string;
        };
        /** @description Who may read a run, and why. */
        readonly Sharing: {
            /**
             * @description Of the run itself; private: as its workspace
             *
             *     * `private` - Private
             *     * `unlisted` - Unlisted
             *     * `public` - Public
             */
            readonly visibility: components["schemas"]["VisibilityEnum"];
            /**
             * @description The more open of run and workspace
             *
             *     * `private` - Private
             *     * `unlisted` - Unlisted
             *     * `public` - Public
             */
            readonly effective_visibility: components["schemas"]["VisibilityEnum"];
            /** @description Who may read it, and why */
            readonly why: string;
            /** @description Its page for readers outside the workspace; null for a private run */
            readonly url: string | null;
        };
        /** @enum {string} */
        readonly SourceEnum: "assumed" | "history" | "host";
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
            readonly trials: number;
            /** @description Its trials still come */
            readonly open?: boolean;
        };
        /** @enum {string} */
        readonly StatusEnum: "caveats" | "comparable" | "not_comparable";
        /** @description How full a workspace is. */
        readonly StoredBytes: {
            /** @description Slug */
            readonly workspace: string;
            /** @description Of raw files, envelopes, observations and snapshots */
            readonly stored_bytes: number;
            /** @description The limit of this workspace */
            readonly max_bytes: number;
        };
        /** @description A trial over time. */
        readonly Timeline: {
            /** Format: uuid */
            readonly trial: string;
            /** Format: double */
            readonly length_s: number;
            readonly seconds: readonly components["schemas"]["Second"][];
        };
        /** @description A token, without its clear text. */
        readonly Token: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name?: string;
            readonly scopes: readonly string[];
            readonly networks: readonly string[];
            readonly author?: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at?: string | null;
            /** Format: date-time */
            readonly used_at?: string | null;
            /** Format: date-time */
            readonly revoked_at?: string | null;
            /** Format: date-time */
            readonly leaked_at?: string | null;
        };
        /** @description One page of tokens. */
        readonly TokenPage: {
            readonly tokens: readonly components["schemas"]["Token"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @enum {string} */
        readonly TopicEnum: "client host" | "conditions" | "plan" | "run" | "server host";
        /**
         * @description * `alerts` - Alerts
         *     * `runs` - Runs
         * @enum {string}
         */
        readonly TopicsEnum: "alerts" | "runs";
        readonly Total: {
            readonly cells: number;
            readonly trials: number;
            readonly runs: number;
        };
        /** @description The trash. Its raw files count as stored until a run is deleted for good. */
        readonly Trash: {
            readonly runs: readonly components["schemas"]["TrashedRun"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description A run in the trash. */
        readonly TrashedRun: {
            readonly run: components["schemas"]["RunRow"];
            /** Format: date-time */
            readonly trashed_at: string;
            readonly trashed_by?: string | null;
            /**
             * Format: date-time
             * @description When it is deleted for good
             */
            readonly gone_at: string;
        };
        /** @description One execution of the load tool. Null is unknown. */
        readonly Trial: {
            /** Format: uuid */
            readonly id: string;
            /** Format: uuid */
            readonly run: string;
            readonly ordinal: number;
            /** Format: uuid */
            readonly cell: string;
            readonly server: string;
            readonly workload: string;
            readonly tool: string;
            readonly loop: string;
            readonly connections: number | null;
            /** Format: double */
            readonly rate_rps: number | null;
            readonly repeat: number | null;
            readonly warmup: boolean;
            /**
             * @description What the trial was for
             *
             *     * `warmup` - warmup
             *     * `measure` - measure
             *     * `search` - search
             *     * `confirm` - confirm
             */
            readonly phase: components["schemas"]["PhaseEnum"] | components["schemas"]["NullEnum"];
            /** Format: date-time */
            readonly started_at: string | null;
            /** Format: double */
            readonly elapsed_s: number | null;
            /**
             * Format: double
             * @description Completed responses / elapsed, else the rate the tool printed
             */
            readonly throughput: number | null;
            /**
             * @description Reported: the tool's own rate, where a count or the elapsed time is unknown
             *
             *     * `computed` - computed
             *     * `reported` - reported
             */
            readonly throughput_origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /**
             * Format: double
             * @description The rate the tool printed
             */
            readonly reported_rps: number | null;
            /** Format: double */
            readonly p50_us: number | null;
            /** Format: double */
            readonly p99_us: number | null;
            readonly origin: components["schemas"]["OriginEnum"] | components["schemas"]["NullEnum"];
            /** Format: double */
            readonly error_rate: number | null;
            readonly errors: {
                readonly [key: string]: unknown;
            };
            readonly requests: number | null;
            readonly checks: readonly {
                readonly [key: string]: unknown;
            }[];
            /** @description What the agent measured of server and client */
            readonly resources: {
                readonly [key: string]: unknown;
            };
            /** @description The load as the agent asked for it */
            readonly load: {
                readonly [key: string]: unknown;
            };
            readonly command: string;
            readonly exit_code: number | null;
            readonly incomplete: boolean;
            readonly error: string;
            /** @description What the server printed last, of a failed trial */
            readonly server_tail: string;
            readonly artefacts: readonly components["schemas"]["Artefact"][];
        };
        /** @description How far the answer holds. */
        readonly Trust: {
            /** @description solid; care: use with care; noisy: too noisy to call; not_comparable */
            readonly level: components["schemas"]["LevelEnum"];
            /** @description The most harmful first; pages show the first three at once */
            readonly reasons: readonly components["schemas"]["TrustReason"][];
            /** @description How many reasons are not listed */
            readonly more?: number;
        };
        /** @description Why the answer is not solid, and what to do. */
        readonly TrustReason: {
            /** @description A sentence */
            readonly text: string;
            /** @description What to do, in sentences; empty where nothing helps */
            readonly remedy: string;
            /** @description The id of the check that says so */
            readonly check?: string | null;
        };
        /** @enum {string} */
        readonly UnitEnum: "runs" | "trials";
        /** @description An upload and where its result is. */
        readonly Upload: {
            /** Format: uuid */
            readonly id: string;
            readonly state: components["schemas"]["UploadStateEnum"];
            /** @description Why it waits or failed; of a parsed upload, what could not be read. Or empty */
            readonly reason: string;
            /** Format: date-time */
            readonly received_at: string;
            /** Format: date-time */
            readonly finished_at: string | null;
            readonly attempts: number;
            /** Format: uuid */
            readonly run: string | null;
            readonly url: string;
            readonly result_url: string;
        };
        /** @description What a POST carries. */
        readonly UploadForm: {
            /** @description Raw output, one or more */
            readonly file: readonly string[];
            /** @description JSON of the agent's envelope */
            readonly envelope?: string;
            /** @description JSON list of the artefacts that came in parts: name, sha256, size_bytes, parts */
            readonly parts?: string;
            /** @description The load tool, if you want it checked */
            readonly tool?: string;
            /** @description Slug; a token has its own */
            readonly workspace?: string;
        };
        /** @description The newest first. */
        readonly UploadList: {
            readonly uploads: readonly components["schemas"]["Upload"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `received` - Received
         *     * `parsing` - Parsing
         *     * `parsed` - Parsed
         *     * `failed` - Failed
         *     * `quarantined` - Quarantined
         * @enum {string}
         */
        readonly UploadStateEnum: "received" | "parsing" | "parsed" | "failed" | "quarantined";
        /** @description How much of one limit is used. */
        readonly Usage: {
            readonly id: components["schemas"]["IdEnum"];
            readonly label: string;
            readonly unit: string;
            readonly used: number;
            readonly limit: number;
            /**
             * @description `warning` from 80% of the limit, `full` at the limit
             *
             *     * `ok` - ok
             *     * `warning` - warning
             *     * `full` - full
             */
            readonly state: components["schemas"]["UsageStateEnum"];
            /** @description What happens to more */
            readonly beyond: string;
            /**
             * Format: date-time
             * @description When the count begins anew; null where it does not
             */
            readonly resets_at: string | null;
        };
        /**
         * @description * `ok` - ok
         *     * `warning` - warning
         *     * `full` - full
         * @enum {string}
         */
        readonly UsageStateEnum: "ok" | "warning" | "full";
        /** @description One version and configuration of a server. Null is unknown. */
        readonly Variant: {
            /** Format: uuid */
            readonly id: string;
            readonly version: string | null;
            readonly runtime: string | null;
            readonly configuration: {
                readonly [key: string]: unknown;
            };
        };
        /** @enum {string} */
        readonly VerdictEnum: "improved" | "inconclusive" | "regressed" | "size_uncertain" | "unchanged";
        /** @description A saved view. */
        readonly View: {
            /** Format: uuid */
            readonly id: string;
            readonly workspace: string;
            readonly name: string;
            readonly query?: string;
            readonly is_default?: boolean;
            readonly author: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** @description The comparison */
            readonly url: string;
        };
        /** @description By name. */
        readonly ViewList: {
            readonly views: readonly components["schemas"]["View"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /**
         * @description * `private` - Private
         *     * `unlisted` - Unlisted
         *     * `public` - Public
         * @enum {string}
         */
        readonly VisibilityEnum: "private" | "unlisted" | "public";
        /** @description The reason, which readers of the link see later. */
        readonly Withdraw: {
            readonly reason: string;
        };
        readonly WorkloadPage: {
            readonly workloads: readonly components["schemas"]["WorkloadRow"][];
            readonly total: number;
            readonly next: string | null;
        };
        /** @description A workload by its name, with every one of that name. */
        readonly WorkloadRow: {
            /** Format: uuid */
            readonly id: string;
            readonly name: string;
            readonly runs: number;
            readonly load_points: number;
            /** Format: date-time */
            readonly last_measured: string | null;
            readonly variants: readonly components["schemas"]["Asked"][];
        };
        /** @description A workspace one may read. */
        readonly Workspace: {
            readonly slug: string;
            readonly name: string;
            readonly url: string;
        };
        /** @description The link of an unlisted workspace. It is in this answer only. */
        readonly WorkspaceLink: {
            /** @description Slug */
            readonly workspace: string;
            /** @description Whoever opens it in a browser reads the workspace */
            readonly url: string;
        };
        /** @description One page of workspaces. */
        readonly WorkspacePage: {
            readonly workspaces: readonly components["schemas"]["WorkspaceRow"][];
            /** @description The next page; null on the last */
            readonly next: string | null;
        };
        /** @description A workspace that one may read. */
        readonly WorkspaceRow: {
            /** @description Slug */
            readonly workspace: string;
            readonly name: string;
            /**
             * @description One's own; null for a token
             *
             *     * `viewer` - Viewer
             *     * `member` - Member
             *     * `admin` - Admin
             *     * `owner` - Owner
             */
            readonly role: components["schemas"]["Role"] | components["schemas"]["NullEnum"];
            /** @description Whether everyone may read its runs */
            readonly is_public: boolean;
            /** @description The front page */
            readonly url: string;
        };
        /** @description A workspace and its settings. */
        readonly WorkspaceSettings: {
            /** @description Slug */
            readonly workspace: string;
            readonly name: string;
            /** @description Whether everyone may read its runs */
            readonly is_public: boolean;
            /**
             * Format: double
             * @description Differences below this share are called not relevant
             */
            readonly relevant_share: number;
            /** @description With fewer trials per load point, a comparison warns */
            readonly min_trials: number;
            /** @description Facts of the hosts that must match; null: the defaults */
            readonly must_match: readonly string[];
            /** @description Days that raw output is kept after it came; null: for ever */
            readonly raw_kept_days: number | null;
            /** @description Whether everyone who has its link may read its runs */
            readonly is_unlisted: boolean;
            /** @description Who may read its runs now, and why */
            readonly readers: string;
        };
        /** @description How much of its limits a workspace uses. */
        readonly WorkspaceUsage: {
            /** @description Slug */
            readonly workspace: string;
            readonly usage: readonly components["schemas"]["Usage"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type Agent = components['schemas']['Agent'];
export type AgentList = components['schemas']['AgentList'];
export type AgentRow = components['schemas']['AgentRow'];
export type Alert = components['schemas']['Alert'];
export type AlertAnswerStateEnum = components['schemas']['AlertAnswerStateEnum'];
export type AlertChange = components['schemas']['AlertChange'];
export type AlertCommits = components['schemas']['AlertCommits'];
export type AlertDetail = components['schemas']['AlertDetail'];
export type AlertPage = components['schemas']['AlertPage'];
export type AlertRuleKind = components['schemas']['AlertRuleKind'];
export type AlertRuleName = components['schemas']['AlertRuleName'];
export type AlertRun = components['schemas']['AlertRun'];
export type AlertRuns = components['schemas']['AlertRuns'];
export type AlertState = components['schemas']['AlertState'];
export type Answer = components['schemas']['Answer'];
export type Artefact = components['schemas']['Artefact'];
export type Asked = components['schemas']['Asked'];
export type Attempt = components['schemas']['Attempt'];
export type AuditEvent = components['schemas']['AuditEvent'];
export type AuditPage = components['schemas']['AuditPage'];
export type Axis = components['schemas']['Axis'];
export type AxisKind = components['schemas']['AxisKind'];
export type Baseline = components['schemas']['Baseline'];
export type BetterEnum = components['schemas']['BetterEnum'];
export type Capacity = components['schemas']['Capacity'];
export type CapacityRow = components['schemas']['CapacityRow'];
export type Change = components['schemas']['Change'];
export type ChangedFigure = components['schemas']['ChangedFigure'];
export type ChangedHeadline = components['schemas']['ChangedHeadline'];
export type Changes = components['schemas']['Changes'];
export type Channel = components['schemas']['Channel'];
export type ChannelKind = components['schemas']['ChannelKind'];
export type ChannelList = components['schemas']['ChannelList'];
export type ChannelSecret = components['schemas']['ChannelSecret'];
export type Correction = components['schemas']['Correction'];
export type Current = components['schemas']['Current'];
export type Curve = components['schemas']['Curve'];
export type Curves = components['schemas']['Curves'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryPage = components['schemas']['DeliveryPage'];
export type DeliveryState = components['schemas']['DeliveryState'];
export type DirectoryPage = components['schemas']['DirectoryPage'];
export type Dismissal = components['schemas']['Dismissal'];
export type DismissalList = components['schemas']['DismissalList'];
export type DismissalRequest = components['schemas']['DismissalRequest'];
export type Dismissed = components['schemas']['Dismissed'];
export type DryFile = components['schemas']['DryFile'];
export type DryRefusal = components['schemas']['DryRefusal'];
export type DryRun = components['schemas']['DryRun'];
export type DryTrial = components['schemas']['DryTrial'];
export type Export = components['schemas']['Export'];
export type ExportPage = components['schemas']['ExportPage'];
export type ExportStateEnum = components['schemas']['ExportStateEnum'];
export type Facet = components['schemas']['Facet'];
export type FacetValue = components['schemas']['FacetValue'];
export type Facets = components['schemas']['Facets'];
export type FeedToken = components['schemas']['FeedToken'];
export type FeedTokenPage = components['schemas']['FeedTokenPage'];
export type FieldEnum = components['schemas']['FieldEnum'];
export type Figures = components['schemas']['Figures'];
export type FiredCheck = components['schemas']['FiredCheck'];
export type Gate = components['schemas']['Gate'];
export type GateAdvice = components['schemas']['GateAdvice'];
export type GateNoise = components['schemas']['GateNoise'];
export type GateRow = components['schemas']['GateRow'];
export type GateRun = components['schemas']['GateRun'];
export type GateSide = components['schemas']['GateSide'];
export type GateVerdict = components['schemas']['GateVerdict'];
export type GroupEnum = components['schemas']['GroupEnum'];
export type Heartbeat = components['schemas']['Heartbeat'];
export type HostPage = components['schemas']['HostPage'];
export type HostRow = components['schemas']['HostRow'];
export type IdEnum = components['schemas']['IdEnum'];
export type Invitation = components['schemas']['Invitation'];
export type InvitationPage = components['schemas']['InvitationPage'];
export type Join = components['schemas']['Join'];
export type Keep = components['schemas']['Keep'];
export type Kept = components['schemas']['Kept'];
export type KindOfName = components['schemas']['KindOfName'];
export type Knee = components['schemas']['Knee'];
export type Last = components['schemas']['Last'];
export type Leak = components['schemas']['Leak'];
export type LevelEnum = components['schemas']['LevelEnum'];
export type Limit = components['schemas']['Limit'];
export type LimitList = components['schemas']['LimitList'];
export type Links = components['schemas']['Links'];
export type Listed = components['schemas']['Listed'];
export type ListedRun = components['schemas']['ListedRun'];
export type MadeFeedToken = components['schemas']['MadeFeedToken'];
export type MadeInvitation = components['schemas']['MadeInvitation'];
export type MadeToken = components['schemas']['MadeToken'];
export type Me = components['schemas']['Me'];
export type MeKindEnum = components['schemas']['MeKindEnum'];
export type Measure = components['schemas']['Measure'];
export type Member = components['schemas']['Member'];
export type MemberPage = components['schemas']['MemberPage'];
export type Merge = components['schemas']['Merge'];
export type MergeList = components['schemas']['MergeList'];
export type MergeRequest = components['schemas']['MergeRequest'];
export type Metric = components['schemas']['Metric'];
export type MetricsEnum = components['schemas']['MetricsEnum'];
export type NewChannel = components['schemas']['NewChannel'];
export type NewExport = components['schemas']['NewExport'];
export type NewFeedToken = components['schemas']['NewFeedToken'];
export type NewInvitation = components['schemas']['NewInvitation'];
export type NewRule = components['schemas']['NewRule'];
export type NewToken = components['schemas']['NewToken'];
export type NewView = components['schemas']['NewView'];
export type NewWorkspace = components['schemas']['NewWorkspace'];
export type Noise = components['schemas']['Noise'];
export type NotRead = components['schemas']['NotRead'];
export type NullEnum = components['schemas']['NullEnum'];
export type Observation = components['schemas']['Observation'];
export type OriginEnum = components['schemas']['OriginEnum'];
export type Outcome = components['schemas']['Outcome'];
export type Pair = components['schemas']['Pair'];
export type PairDifference = components['schemas']['PairDifference'];
export type PairFigure = components['schemas']['PairFigure'];
export type PairRow = components['schemas']['PairRow'];
export type PairSide = components['schemas']['PairSide'];
export type PairSideKindEnum = components['schemas']['PairSideKindEnum'];
export type Panel = components['schemas']['Panel'];
export type Part = components['schemas']['Part'];
export type PartList = components['schemas']['PartList'];
export type PatchedAlertAnswer = components['schemas']['PatchedAlertAnswer'];
export type PatchedEdit = components['schemas']['PatchedEdit'];
export type PatchedRole = components['schemas']['PatchedRole'];
export type PatchedRuleEdit = components['schemas']['PatchedRuleEdit'];
export type PatchedRunEdit = components['schemas']['PatchedRunEdit'];
export type PatchedSharingEdit = components['schemas']['PatchedSharingEdit'];
export type PatchedViewEdit = components['schemas']['PatchedViewEdit'];
export type PatchedWorkspaceEdit = components['schemas']['PatchedWorkspaceEdit'];
export type PhaseEnum = components['schemas']['PhaseEnum'];
export type Place = components['schemas']['Place'];
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
export type ReadResultSet = components['schemas']['ReadResultSet'];
export type ReadTrial = components['schemas']['ReadTrial'];
export type Rename = components['schemas']['Rename'];
export type RenameRequest = components['schemas']['RenameRequest'];
export type Renamed = components['schemas']['Renamed'];
export type Report = components['schemas']['Report'];
export type ReportStateEnum = components['schemas']['ReportStateEnum'];
export type Rereading = components['schemas']['Rereading'];
export type ResultSet = components['schemas']['ResultSet'];
export type ResultSetKind = components['schemas']['ResultSetKind'];
export type ResultSetList = components['schemas']['ResultSetList'];
export type ResultSetState = components['schemas']['ResultSetState'];
export type Role = components['schemas']['Role'];
export type Rule = components['schemas']['Rule'];
export type RuleList = components['schemas']['RuleList'];
export type Run = components['schemas']['Run'];
export type RunPage = components['schemas']['RunPage'];
export type RunRow = components['schemas']['RunRow'];
export type RunRowStateEnum = components['schemas']['RunRowStateEnum'];
export type Sample = components['schemas']['Sample'];
export type ScopesEnum = components['schemas']['ScopesEnum'];
export type Second = components['schemas']['Second'];
export type Series = components['schemas']['Series'];
export type SeriesPair = components['schemas']['SeriesPair'];
export type ServerPage = components['schemas']['ServerPage'];
export type ServerRow = components['schemas']['ServerRow'];
export type Session = components['schemas']['Session'];
export type SeverityEnum = components['schemas']['SeverityEnum'];
export type SharedCorrection = components['schemas']['SharedCorrection'];
export type SharedRun = components['schemas']['SharedRun'];
export type SharedTrial = components['schemas']['SharedTrial'];
export type Sharing = components['schemas']['Sharing'];
export type SourceEnum = components['schemas']['SourceEnum'];
export type SourceRun = components['schemas']['SourceRun'];
export type StatusEnum = components['schemas']['StatusEnum'];
export type StoredBytes = components['schemas']['StoredBytes'];
export type Timeline = components['schemas']['Timeline'];
export type Token = components['schemas']['Token'];
export type TokenPage = components['schemas']['TokenPage'];
export type TopicEnum = components['schemas']['TopicEnum'];
export type TopicsEnum = components['schemas']['TopicsEnum'];
export type Total = components['schemas']['Total'];
export type Trash = components['schemas']['Trash'];
export type TrashedRun = components['schemas']['TrashedRun'];
export type Trial = components['schemas']['Trial'];
export type Trust = components['schemas']['Trust'];
export type TrustReason = components['schemas']['TrustReason'];
export type UnitEnum = components['schemas']['UnitEnum'];
export type Upload = components['schemas']['Upload'];
export type UploadForm = components['schemas']['UploadForm'];
export type UploadList = components['schemas']['UploadList'];
export type UploadStateEnum = components['schemas']['UploadStateEnum'];
export type Usage = components['schemas']['Usage'];
export type UsageStateEnum = components['schemas']['UsageStateEnum'];
export type Variant = components['schemas']['Variant'];
export type VerdictEnum = components['schemas']['VerdictEnum'];
export type View = components['schemas']['View'];
export type ViewList = components['schemas']['ViewList'];
export type VisibilityEnum = components['schemas']['VisibilityEnum'];
export type Withdraw = components['schemas']['Withdraw'];
export type WorkloadPage = components['schemas']['WorkloadPage'];
export type WorkloadRow = components['schemas']['WorkloadRow'];
export type Workspace = components['schemas']['Workspace'];
export type WorkspaceLink = components['schemas']['WorkspaceLink'];
export type WorkspacePage = components['schemas']['WorkspacePage'];
export type WorkspaceRow = components['schemas']['WorkspaceRow'];
export type WorkspaceSettings = components['schemas']['WorkspaceSettings'];
export type WorkspaceUsage = components['schemas']['WorkspaceUsage'];
