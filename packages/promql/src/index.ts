export { parser } from "@prometheus-io/lezer-promql";
