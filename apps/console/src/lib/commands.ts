/** The same view in another tool. */
export interface Command {
  readonly tool: "oaas" | "kubectl" | "curl";
  readonly text: string;
}

export function oaas(text: string): Command {
  return { tool: "oaas", text: `oaas ${text}` };
}

/** Quotes a shell word when it needs it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function kubectl(text: string): Command {
  return { tool: "kubectl", text: `kubectl ${text}` };
}

/** A Kubernetes object as YAML. Kinds of other projects need their group: several are called Service. */
export function kubectlObject(object: {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | null | undefined;
  readonly api_version?: string | undefined;
}): Command {
  const [group = "", version] = (object.api_version ?? "").split("/");
  const suffix = version === undefined || !group.includes(".") ? "" : `.${version}.${group}`;
  const resource = `${object.kind.toLowerCase()}${suffix}`;
  return kubectl(`-n ${shellWord(object.namespace ?? "default")} get ${resource} ${shellWord(object.name)} -o yaml`);
}

/** A request with the token in a variable, because the console does not know it. */
export function curl(origin: string, path: string, method = "GET"): Command {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  return { tool: "curl", text: `curl${verb} -H "Authorization: Bearer $OAAS_TOKEN" ${shellWord(origin + path)}` };
}
