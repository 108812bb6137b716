import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { resolveFunction } from "./resolve-function.ts";

export interface InvokeFlags {
  readonly data?: string;
  readonly file?: string;
  readonly cluster?: string;
  readonly method?: string;
  readonly path?: string;
  readonly header?: readonly string[];
}

/** Sends one request to a function and prints its response. Fails when the function responds with an error. */
export async function invoke(session: Session, flags: InvokeFlags, key: string, name?: string): Promise<ExitCode> {
  const fn = await resolveFunction(session, key, name);
  const { cluster, method, path } = flags;
  const body = await readBody(session, flags);
  const { value } = await session.call("invokeFunction", {
    parameters: { key, function: fn },
    body: {
      ...(cluster === undefined ? {} : { cluster }),
      ...(method === undefined ? {} : { method }),
      ...(path === undefined ? {} : { path }),
      ...(body === undefined ? {} : { body }),
      headers: readHeaders(flags.header ?? []),
    },
  });
  const text = value.body ?? value.body_base64 ?? "";
  session.printItem(value, { kind: "invocation", nameOf: () => `${key}/${fn}`, columns: [] }, () =>
    text.endsWith("\n") || text === "" ? text : `${text}\n`,
  );
  if (value.status < 400) return EXIT.done;
  session.printNote(`${session.colours.bad("error:")} ${fn} in ${value.cluster} responded with ${value.status}\n`);
  return EXIT.failed;
}

async function readBody({ environment }: Session, { data, file }: InvokeFlags): Promise<string | undefined> {
  if (data !== undefined && file !== undefined)
    throw new UsageError("--data and --file are both set", "use one of them");
  if (file === undefined) return data;
  const text = file === "-" ? await environment.terminal.readStdin() : await environment.files.read(file);
  if (text === undefined) throw new UsageError(`${file} does not exist`, "name a file, or - for standard input");
  return text;
}

function readHeaders(headers: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    headers.map((header) => {
      const [, name, value] = /^([^:\s]+):\s*(.*)$/s.exec(header) ?? [];
      if (name === undefined || value === undefined) {
        throw new UsageError(`--header: "${header}" is not a header`, "write it as 'name: value'");
      }
      return [name, value] as const;
    }),
  );
}
