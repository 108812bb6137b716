/** The name of a request in results: the RBAC verb for reads, else the method, and the resource. */
export function requestName(method: string, path: string): string {
  const [plain = "", query = ""] = path.split("?");
  const parts = plain.split("/").filter((part) => part !== "");
  const rest = parts[0] === "api" ? parts.slice(2) : parts[0] === "apis" ? parts.slice(3) : undefined;
  if (rest === undefined || rest.length === 0) return `${method} ${plain}`;
  const [resource = "", name, subresource] = rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
  const subject = subresource === undefined ? resource : `${resource}/${subresource}`;
  if (method !== "GET") return `${method} ${subject}`;
  const asked = new URLSearchParams(query);
  // A watch that starts with all objects costs as much as a list.
  if (asked.get("sendInitialEvents") === "true") return `LIST ${subject}`;
  if (asked.get("watch") !== null && asked.get("watch") !== "false" && asked.get("watch") !== "0")
    return `WATCH ${subject}`;
  return `${name === undefined ? "LIST" : "GET"} ${subject}`;
}

/** Whether requests with this name are writes. */
export function isWrite(name: string): boolean {
  return /^(POST|PUT|PATCH|DELETE) /.test(name);
}
