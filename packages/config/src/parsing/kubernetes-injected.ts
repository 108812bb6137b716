/**
 * Kubernetes adds variables to every container for each Service of its namespace, in the format of Docker links.
 * A Service `oprc-crm` adds OPRC_CRM_SERVICE_HOST, OPRC_CRM_SERVICE_PORT, OPRC_CRM_SERVICE_PORT_HTTP,
 * OPRC_CRM_PORT=tcp://10.0.0.1:8088 and OPRC_CRM_PORT_8088_TCP with _PROTO, _PORT and _ADDR.
 */
const BY_NAME = /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\/\S+:\d+$/;

/** Whether Kubernetes injects this variable for a Service. */
export function isInjected(name: string, value: string): boolean {
  return BY_NAME.test(name) || isInjectedPort(name, value);
}

/** Whether `<SERVICE>_PORT` has the address of a Service. This can also match a declared port variable. */
export function isInjectedPort(name: string, value: string): boolean {
  return name.endsWith("_PORT") && SERVICE_ADDRESS.test(value);
}
