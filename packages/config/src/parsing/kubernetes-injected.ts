/**
 * Kubernetes adds variables to every container for each Service of its namespace, in the form Docker links had.
 * A Service called `oprc-crm` gives OPRC_CRM_SERVICE_HOST, OPRC_CRM_SERVICE_PORT, OPRC_CRM_SERVICE_PORT_HTTP,
 * OPRC_CRM_PORT=tcp://10.0.0.1:8088 and OPRC_CRM_PORT_8088_TCP with _PROTO, _PORT and _ADDR.
 */
const BY_NAME = /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\/\S+:\d+$/;

/** Whether a variable we do not know is one that Kubernetes injects for a Service. */
export function isInjected(name: string, value: string): boolean {
  return BY_NAME.test(name) || isInjectedPort(name, value);
}

/** Whether `<SERVICE>_PORT` holds a Service's address; also true of declared ports, which a Service's name can hit. */
export function isInjectedPort(name: string, value: string): boolean {
  return name.endsWith("_PORT") && SERVICE_ADDRESS.test(value);
}
