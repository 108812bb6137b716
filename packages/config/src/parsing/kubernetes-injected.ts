/**
 * Kubernetes adds variables to every container for each Service of its namespace, in the format of Docker links.
 * A Service `oprc-crm` adds OPRC_CRM_SERVICE_HOST, OPRC_CRM_SERVICE_PORT, OPRC_CRM_SERVICE_PORT_HTTP,
 * OPRC_CRM_PORT=tcp://10.0.0.1:8088 and OPRC_CRM_PORT_8088_TCP with _PROTO, _PORT and _ADDR.
 */
const BY_NAME = /_SERVICE_(?:HOST|PORT)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const NAMED_PORT = "_SERVICE_PORT_";
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\/\S+:\d+$/;

/** Whether Kubernetes injects this variable for a Service. */
export function isInjected(name: string, value: string): boolean {
  return BY_NAME.test(name) || isNamedPort(name) || isInjectedPort(name, value);
}

/** Whether the name ends in `_SERVICE_PORT_<NAME>`. */
function isNamedPort(name: string): boolean {
  const [tail = ""] = /(?<![A-Z0-9_])[A-Z0-9_]+$/.exec(name) ?? [];
  const at = tail.indexOf(NAMED_PORT);
  return at !== -1 && at + NAMED_PORT.length < tail.length;
}

/** Whether `<SERVICE>_PORT` has the address of a Service. This can also match a declared port variable. */
export function isInjectedPort(name: string, value: string): boolean {
  return name.endsWith("_PORT") && SERVICE_ADDRESS.test(value);
}
