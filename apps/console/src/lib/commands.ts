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

/** A request with the token in a variable, because the console does not know it. */
export function curl(origin: string, path: string, method = "GET"): Command {
  const verb = method === "GET" ? "" : ` -X ${method}`;
  return { tool: "curl", text: `curl${verb} -H "Authorization: Bearer $OAAS_TOKEN" ${shellWord(origin + path)}` };
}
