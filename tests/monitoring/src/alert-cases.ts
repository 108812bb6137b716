import type { InputSeries } from "./rule-test.ts";

/** Series under which an alert fires, and similar ones under which it does not, all in the namespace `CASE`. */
export interface AlertCase {
  readonly alert: string;
  readonly severities: readonly string[];
  readonly fires: readonly InputSeries[];
  readonly quiet: readonly InputSeries[];
}

const PM = 'job="oaas-pm",namespace="CASE"';
const CRM = 'job="oaas-crm",namespace="CASE",cluster="east"';
const WEB = 'namespace="CASE",oaas_owner="web",function="hello"';

const series = (name: string, values: string): InputSeries => ({ series: name, values });
/** A constant value. */
const steady = (name: string, value: number): InputSeries => series(name, `${value}x90`);
/** A counter that grows by this much per minute. */
const growing = (name: string, perMinute: number): InputSeries => series(name, `0+${perMinute}x90`);

const UP = [steady(`up{${PM}}`, 1), steady(`up{${CRM}}`, 1)];

const slowReads = (share: number, operation = "listPackages"): InputSeries[] => [
  growing(`pm_http_request_seconds_count{${PM},operation="${operation}"}`, 600),
  growing(`pm_http_request_seconds_bucket{${PM},operation="${operation}",le="1"}`, 600 * (1 - share)),
  growing(`pm_http_request_seconds_bucket{${PM},operation="${operation}",le="+Inf"}`, 600),
];
const calls = (share: number): InputSeries[] => [
  growing(`pm_crm_calls_total{${PM},cluster="east",method="GetEnvHealth",outcome="ok"}`, 60 * (1 - share)),
  growing(`pm_crm_calls_total{${PM},cluster="east",method="GetEnvHealth",outcome="unavailable"}`, 60 * share),
];
const reconciles = (share: number): InputSeries[] => [
  growing(`kube_controller_reconciles_total{${CRM},controller="class-runtime",result="settled"}`, 60 * (1 - share)),
  growing(`kube_controller_reconciles_total{${CRM},controller="class-runtime",result="retried"}`, 60 * share),
];
const waits = (within: string): InputSeries[] =>
  ["0.1", "1", "10", "60", "600", "+Inf"].map((le) =>
    growing(
      `kube_controller_queue_wait_seconds_bucket{${CRM},controller="class-runtime",le="${le}"}`,
      Number(le.replace("+Inf", "Infinity")) >= Number(within) ? 60 : 0,
    ),
  );
const reports = (failed: number): InputSeries[] => [
  growing(`crm_pm_reports_total{${CRM},about="status",outcome="sent"}`, 10 - failed),
  growing(`crm_pm_reports_total{${CRM},about="status",outcome="failed"}`, failed),
];
const OF_CLASS = 'class_namespace="CASE",class="web",component="hello"';
const queries = (failed: number): InputSeries[] => [
  growing(`crm_nfr_query_errors_total{${CRM},signal="latency_p99_ms",kind="unavailable"}`, failed),
  growing(`crm_nfr_query_duration_seconds_count{${CRM},signal="latency_p99_ms"}`, 2 - failed),
];
const classRequests = (perMinute: number, share: number): InputSeries[] => [
  growing(`http_requests_total{${WEB},code="200"}`, perMinute * (1 - share)),
  growing(`http_requests_total{${WEB},code="500"}`, perMinute * share),
];
const pmRequests = (share: number, operation = "getDeployment"): InputSeries[] => [
  growing(`pm_http_requests_total{${PM},operation="${operation}",status="200"}`, 600 * (1 - share)),
  growing(`pm_http_requests_total{${PM},operation="${operation}",status="503"}`, 600 * share),
];

const BOTH = ["critical", "warning"] as const;

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Time starts at 0 in these tests. */
const certificate = (from: number, to: number, labels: string): InputSeries[] => [
  steady(`oaas_certificate_start_timestamp_seconds{${CRM},${labels}}`, from),
  steady(`oaas_certificate_expiry_timestamp_seconds{${CRM},${labels}}`, to),
];

/** One case per alert and severity at least, each for 80 minutes, at one sample per minute. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: "PackageManagerDown",
    severities: ["critical"],
    fires: [series(`up{${PM}}`, "1x70 0x20")],
    quiet: UP,
  },
  {
    alert: "PackageManagerStoreFails",
    severities: ["critical"],
    fires: [growing(`pm_store_errors_total{${PM},operation="commit",kind="unavailable"}`, 3)],
    quiet: [
      steady(`pm_store_errors_total{${PM},operation="commit",kind="unavailable"}`, 0),
      // A restart of etcd: some failures within a minute.
      series(`pm_store_errors_total{${PM},operation="get",kind="unavailable"}`, "0x70 4x20"),
    ],
  },
  {
    alert: "ClusterUnreachable",
    severities: ["critical"],
    fires: [steady(`pm_crm_breaker_state{${PM},cluster="east"}`, 2)],
    quiet: [
      steady(`pm_crm_breaker_state{${PM},cluster="east"}`, 0),
      // It opens for 3 minutes again and again.
      series(`pm_crm_breaker_state{${PM},cluster="edge"}`, "0x70 2 2 2 0 2 2 2 0 2 2 0 0"),
    ],
  },
  {
    alert: "ClusterCallsFail",
    severities: ["warning"],
    fires: [...calls(0.3)],
    quiet: [
      ...calls(0.1),
      growing(`pm_crm_calls_total{${PM},cluster="edge",method="GetClassRuntime",outcome="not-found"}`, 60),
    ],
  },
  {
    alert: "OperationStuck",
    severities: ["warning"],
    // Time starts at 0 in these tests.
    fires: [steady(`pm_operations_oldest_start_seconds{${PM}}`, 60)],
    quiet: [
      steady(`pm_operations_oldest_start_seconds{${PM},instance="a"}`, 0),
      series(`pm_operations_oldest_start_seconds{${PM},instance="b"}`, "60x40 3000x50"),
    ],
  },
  {
    alert: "UnitsUnaccounted",
    severities: ["warning"],
    fires: [steady(`pm_units_unaccounted{${PM}}`, 2)],
    quiet: [steady(`pm_units_unaccounted{${PM}}`, 0)],
  },
  {
    alert: "PackageManagerErrors",
    severities: BOTH,
    fires: [...pmRequests(0.05)],
    // Failing probes are not requests of users.
    quiet: [...pmRequests(0), ...pmRequests(1, "getReadiness")],
  },
  {
    alert: "PackageManagerErrors",
    severities: ["warning"],
    fires: [...pmRequests(0.004)],
    quiet: [...pmRequests(0.0005)],
  },
  {
    alert: "PackageManagerSlow",
    severities: BOTH,
    fires: [...slowReads(0.2)],
    quiet: [...slowReads(0.005), ...slowReads(1, "createDeployment")],
  },
  {
    alert: "ClassRuntimeManagerDown",
    severities: ["critical"],
    fires: [series(`up{${CRM}}`, "1x70 0x20")],
    quiet: UP,
  },
  {
    alert: "ClassRuntimeManagerNoLeader",
    severities: ["critical"],
    fires: [steady(`kube_leader_leading{${CRM},instance="a",lease="oprc-crm"}`, 0)],
    quiet: [
      steady(`kube_leader_leading{${CRM},instance="a",lease="oprc-crm"}`, 0),
      steady(`kube_leader_leading{${CRM},instance="b",lease="oprc-crm"}`, 1),
    ],
  },
  {
    alert: "ReconcilesFail",
    severities: ["warning"],
    fires: [...reconciles(0.5)],
    quiet: [...reconciles(0.1)],
  },
  {
    alert: "ReconcileQueueSlow",
    severities: ["warning"],
    fires: [...waits("600")],
    quiet: [...waits("10")],
  },
  {
    alert: "WatchesBreak",
    severities: ["warning"],
    fires: [growing(`kube_informer_restarts_total{${CRM},informer="pods",reason="silent"}`, 1)],
    quiet: [growing(`kube_informer_restarts_total{${CRM},informer="pods",reason="expired"}`, 1)],
  },
  {
    alert: "ReportsNotDelivered",
    severities: ["warning"],
    fires: [...reports(8)],
    quiet: [...reports(2)],
  },
  {
    alert: "ConfigurationNotReloaded",
    severities: ["warning"],
    fires: [steady(`oaas_config_last_reload_successful{${CRM}}`, 0)],
    quiet: [steady(`oaas_config_last_reload_successful{${CRM}}`, 1)],
  },
  {
    alert: "CertificateExpires",
    severities: BOTH,
    // After 80 minutes, 20 minutes of 90 days are left. A daily one expired.
    fires: certificate(-90 * DAY, 100 * 60, 'use="client",peer="edge"'),
    quiet: [
      ...certificate(-60 * DAY, 30 * DAY, 'use="server"'),
      // An hour of 24 would be late, 6 hours are not.
      ...certificate(-17 * HOUR, 7 * HOUR, 'use="client",peer="edge"'),
      // A year of ten.
      ...certificate(-9 * 365 * DAY, 365 * DAY, 'use="authority"'),
    ],
  },
  {
    alert: "CertificateExpires",
    severities: ["warning"],
    fires: certificate(-80 * DAY, 10 * DAY, 'use="server"'),
    quiet: certificate(-70 * DAY, 22 * DAY, 'use="server"'),
  },
  {
    alert: "CertificateExpires",
    severities: BOTH,
    fires: certificate(-24 * HOUR, 0, 'use="issued",peer="oprc-pm"'),
    // Renewed ten minutes ago.
    quiet: [
      series(`oaas_certificate_start_timestamp_seconds{${CRM},use="server"}`, `${-90 * DAY}x69 3600x20`),
      series(`oaas_certificate_expiry_timestamp_seconds{${CRM},use="server"}`, `6000x69 ${90 * DAY}x20`),
    ],
  },
  {
    alert: "EnforcementAtMaximum",
    severities: ["warning"],
    fires: [steady(`crm_enforcement_held_values{${CRM},reason="at-maximum"}`, 1)],
    quiet: [
      series(`crm_enforcement_held_values{${CRM},reason="at-maximum"}`, "0x60 1x10 0x5 1x20"),
      steady(`crm_enforcement_held_values{${CRM},reason="at-minimum"}`, 5),
    ],
  },
  {
    alert: "EnforcementFrozen",
    severities: ["warning"],
    fires: [steady(`crm_enforcement_held_values{${CRM},reason="frozen"}`, 1)],
    // A reverted change freezes for ten minutes.
    quiet: [series(`crm_enforcement_held_values{${CRM},reason="frozen"}`, "0x70 2x10 0x10")],
  },
  {
    alert: "EnforcementFails",
    severities: ["warning"],
    fires: [
      growing(`crm_enforcement_actions_total{${CRM},dimension="replicas",lane="stable",outcome="reverted"}`, 0.1),
    ],
    quiet: [growing(`crm_enforcement_actions_total{${CRM},dimension="replicas",lane="stable",outcome="applied"}`, 0.1)],
  },
  {
    alert: "RequirementDataOutdated",
    severities: ["warning"],
    fires: [
      series(`crm_nfr_data_age_seconds{${CRM},instance="a"}`, "0+60x90"),
      steady(`kube_leader_leading{${CRM},instance="a",lease="oprc-crm"}`, 1),
    ],
    quiet: [
      steady(`crm_nfr_data_age_seconds{${CRM},instance="a"}`, 30),
      steady(`kube_leader_leading{${CRM},instance="a",lease="oprc-crm"}`, 1),
      // It led long ago.
      steady(`crm_nfr_data_age_seconds{${CRM},instance="b"}`, 3600),
      steady(`kube_leader_leading{${CRM},instance="b",lease="oprc-crm"}`, 0),
    ],
  },
  {
    alert: "RequirementQueriesFail",
    severities: ["warning"],
    fires: queries(1.5),
    quiet: queries(0.5),
  },
  {
    alert: "ClassRequirementViolated",
    severities: ["critical"],
    // 30 of 60 seconds; of the last day or three days that is not yet too much.
    fires: [growing(`crm_nfr_violated_seconds_total{${OF_CLASS},requirement="latency"}`, 30)],
    quiet: [growing(`crm_nfr_violated_seconds_total{${OF_CLASS},requirement="latency"}`, 0.3)],
  },
  {
    alert: "ClassErrors",
    severities: BOTH,
    fires: [...classRequests(600, 0.3)],
    quiet: [...classRequests(600, 0.005)],
  },
  {
    alert: "ClassErrors",
    severities: BOTH,
    fires: [
      growing('revision_request_count{namespace_name="CASE",configuration_name="web",response_code_class="2xx"}', 400),
      growing('revision_request_count{namespace_name="CASE",configuration_name="web",response_code_class="5xx"}', 200),
    ],
    // Too few requests for a verdict: four in 5 minutes, 24 in 30.
    quiet: [series(`http_requests_total{${WEB},code="500"}`, "0x65 0+0.2x25")],
  },
];

/** A counter that grows for three days and more. */
const growingForDays = (name: string, perMinute: number): InputSeries => series(name, `0+${perMinute}x4400`);

/** Cases that need the longest windows, at three days. */
export const LONG_CASES: readonly AlertCase[] = [
  {
    alert: "ClassRequirementViolated",
    severities: ["warning"],
    // 4 % of the time, with a budget of 1 %.
    fires: [growingForDays(`crm_nfr_violated_seconds_total{${OF_CLASS},requirement="availability"}`, 2.4)],
    quiet: [
      growingForDays(`crm_nfr_violated_seconds_total{${OF_CLASS},requirement="availability"}`, 0.5),
      growingForDays(
        'crm_nfr_violated_seconds_total{class_namespace="overflow",class="overflow",component="overflow",requirement="overflow"}',
        60,
      ),
    ],
  },
];

/** The series of a case in a namespace of its own, so that many cases run at the same time. */
export function inNamespace(all: readonly InputSeries[], namespace: string): readonly InputSeries[] {
  return all.map(({ series: name, values }) => ({ series: name.replaceAll('"CASE"', `"${namespace}"`), values }));
}
