import type { Alert, RuleGroup, Severity } from "../model.ts";

const EXPIRY = "oaas_certificate_expiry_timestamp_seconds";
const LEFT = `(${EXPIRY} - time())`;
const LIFETIME = `(${EXPIRY} - oaas_certificate_start_timestamp_seconds)`;
const DAY = 86_400;

/** Both a share of the lifetime and a time: certificates of a day and of ten years are renewed at different times. */
function expiry(severity: Severity, share: number, days: number, held: string): Alert {
  return {
    alert: "CertificateExpires",
    severity,
    expr: `min by (job, namespace, cluster, use, peer) (${LEFT} < ${days * DAY} and ${LEFT} / ${LIFETIME} < ${share})`,
    for: held,
    summary: "The {{ $labels.use }} certificate {{ $labels.peer }} of {{ $labels.job }} expires",
    description:
      "It was not renewed in time and expires in {{ $value | humanizeDuration }} (expired if negative). Then the managers cannot connect; classes keep running.",
  };
}

/** Alerts about the certificates of both managers, whatever their source. */
export const CERTIFICATE_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-certificates",
    rules: [expiry("critical", 0.05, 3, "5m"), expiry("warning", 0.2, 21, "30m")],
  },
];
