import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { canonicalJson, isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import { componentFile } from "@oaas/testkit";
import type {
  Case,
  EventsStep,
  KubectlLinesStep,
  KubectlStep,
  RequestStep,
  Shown,
  Step,
  UntilStep,
  WatchStep,
} from "./case.ts";
import type { WireAnswer, WireRequest, WireStream } from "./http.ts";
import { at, lacks } from "./json-path.ts";
import { Normaliser } from "./normalise.ts";
import { wholePath } from "./paths.ts";
import type { Target } from "./target.ts";

/** The output of each step, and the violated expectations; a failed step ends the case. */
export interface CaseRun {
  readonly shown: readonly Shown[];
  /** Empty when every expectation held. */
  readonly broken: readonly string[];
}

/** The real controllers wait for seconds; the embedded ones need not. */
const TIMEOUT_MS = { real: 60_000, embedded: 20_000 };
const EVENT_TIMEOUT_MS = 20_000;
const POLL_MS = 40;

/** Runs a case in a namespace of this name, which must not exist yet. */
export async function runCase(target: Target, namespace: string, { given = [], steps }: Case): Promise<CaseRun> {
  const run = new Run(target, namespace);
  try {
    await run.prepare(given);
    for (const [index, step] of steps.entries()) await run.take(index, step);
  } catch (error) {
    run.broken.push((error as Error).message);
  } finally {
    run.close();
  }
  return { shown: run.shown, broken: run.broken };
}

/** The namespace of a case: short, and equal on both servers. */
export function namespaceOf(subject: string, index: number): string {
  return `${subject.toLowerCase().replaceAll(/[^a-z]+/g, "-")}-${index + 1}`;
}

/** Periodic bookmarks depend on the server; the bookmark after the initial events does not. */
function isTimedBookmark(event: JsonValue): boolean {
  const isEnd = at(event, "object.metadata.annotations") !== undefined;
  return at(event, "type") === "BOOKMARK" && !isEnd;
}

class Run {
  readonly shown: Shown[] = [];
  readonly broken: string[] = [];
  readonly #target: Target;
  readonly #namespace: string;
  readonly #normaliser = new Normaliser();
  readonly #saved = new Map<string, string>();
  readonly #watches = new Map<string, WireStream>();
  readonly #commands = new Map<string, BackgroundCommand>();

  constructor(target: Target, namespace: string) {
    this.#target = target;
    this.#namespace = namespace;
    this.#saved.set("ns", namespace);
  }

  async prepare(given: readonly Step[]): Promise<void> {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.#namespace } };
    await this.take(-1, { do: "POST namespaces", body });
    for (const step of given) {
      if (this.broken.length === 0) await this.take(-1, step);
    }
    this.shown.length = 0;
    if (this.broken.length > 0) throw new Error("the setup failed");
  }

  async take(index: number, step: Step): Promise<void> {
    const { shown, problem } = await this.#do(this.#filled(step));
    this.shown.push(this.#compared(step, shown));
    if (problem !== "") this.broken.push(`step ${index + 1} (${titleOf(step)}): ${problem}`);
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.close();
    for (const command of this.#commands.values()) command.close();
  }

  #do(step: Step): Promise<Outcome> {
    if ("watch" in step) return this.#watch(step);
    if ("events" in step) return this.#events(step);
    if ("until" in step) return this.#until(step);
    if ("kubectl" in step) return this.#kubectl(step);
    if ("lines" in step) return this.#lines(step);
    return this.#request(step);
  }

  async #request(step: RequestStep): Promise<Outcome> {
    const answer = await this.#target.wire.send(this.#wireRequest(step));
    const body = bodyOf(answer.text);
    this.#save(step.save, body);
    return { shown: this.#answerShown(answer, body), problem: problemOf(step.want, answer.code, body) };
  }

  async #watch(step: WatchStep): Promise<Outcome> {
    const stream = await this.#target.wire.open(this.#wireRequest(step));
    this.#watches.set(step.watch, stream);
    if (stream.code === 200) return { shown: { code: 200 }, problem: problemOf(step.want, 200, {}) };
    let text = "";
    for (let line = await stream.next(); line !== undefined; line = await stream.next()) text += `${line}\n`;
    const body = bodyOf(text.trimEnd());
    const answer = { code: stream.code, headers: stream.headers, text };
    return { shown: this.#answerShown(answer, body), problem: problemOf(step.want, stream.code, body) };
  }

  async #events(step: EventsStep): Promise<Outcome> {
    const stream = this.#watches.get(step.events);
    if (stream === undefined) throw new Error(`no watch is called ${step.events}`);
    const events: JsonValue[] = [];
    const { count = Infinity } = step;
    while (events.length < count) {
      const line = await within(stream.next(), EVENT_TIMEOUT_MS, `event ${events.length + 1} of ${step.events}`);
      if (line === undefined) break;
      const event = bodyOf(line);
      if (!isTimedBookmark(event)) events.push(event);
    }
    this.#save(step.save, events);
    const problem = step.want === undefined ? "" : lacks(events, step.want);
    return { shown: events.map((event) => this.#normaliser.value(event)), problem };
  }

  async #until(step: UntilStep): Promise<Outcome> {
    const { has = {}, code = 200 } = step;
    const endsAt = performance.now() + TIMEOUT_MS[this.#target.name];
    for (;;) {
      const asked =
        step.post === undefined ? { do: `GET ${step.until}` } : { do: `POST ${step.until}`, body: step.post };
      const answer = await this.#target.wire.send(this.#wireRequest(asked));
      const body = bodyOf(answer.text);
      const missing = answer.code === code ? lacks(body, has, true) : `the code is ${answer.code}: ${answer.text}`;
      if (missing === "") {
        this.#save(step.save, body);
        return { shown: { code, body: this.#normaliser.value(body) }, problem: "" };
      }
      if (performance.now() > endsAt) throw new Error(`until ${step.until}: ${missing}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async #kubectl(step: KubectlStep): Promise<Outcome> {
    const { stdin, env, as, background } = step;
    const words = typeof step.kubectl === "string" ? step.kubectl.split(" ") : step.kubectl;
    const args = [`--namespace=${this.#namespace}`, ...(as === undefined ? [] : [`--user=${as}`]), ...words];
    if (background !== undefined) {
      this.#commands.set(background, new BackgroundCommand(args, this.#target.kubeconfig));
      return { shown: {}, problem: "" };
    }
    const { exitCode, stdout, stderr } = await this.#target.kubectl(args, {
      timeoutMs: TIMEOUT_MS[this.#target.name] * 2,
      ...(stdin === undefined ? {} : { stdin: typeof stdin === "string" ? stdin : JSON.stringify(stdin) }),
      ...(env === undefined ? {} : { env }),
    });
    const shown = { exitCode, stdout: this.#printed(stdout), stderr: this.#normaliser.text(stderr) };
    const [code, text] = isJsonArray(step.want) ? step.want : [step.want ?? 0, ""];
    const problem =
      exitCode !== code
        ? `exit code ${exitCode}, not ${code}: ${stderr || stdout}`
        : lacks(`${stdout}\n${stderr}`, text === "" ? "/./" : `/${text}/`);
    return { shown, problem: exitCode === code && text === "" ? "" : problem };
  }

  /** JSON as objects, so that the order of keys does not matter; everything else as text. */
  #printed(text: string): JsonValue {
    if (!text.startsWith("{")) return this.#normaliser.text(text);
    try {
      return this.#normaliser.value(JSON.parse(text) as JsonValue);
    } catch {
      return this.#normaliser.text(text);
    }
  }

  async #lines({ lines, count }: KubectlLinesStep): Promise<Outcome> {
    const command = this.#commands.get(lines);
    if (command === undefined) throw new Error(`no command is called ${lines}`);
    const read: string[] = [];
    while (read.length < count) {
      const line = await within(command.next(), EVENT_TIMEOUT_MS, `line ${read.length + 1} of ${lines}`);
      if (line === undefined) break;
      read.push(this.#normaliser.text(line));
    }
    return { shown: read, problem: "" };
  }

  #answerShown(answer: WireAnswer, body: JsonValue): JsonValue {
    const warnings = [answer.headers["warning"] ?? []].flat().map((text) => this.#normaliser.text(text));
    const type = String(answer.headers["content-type"] ?? "");
    return {
      code: answer.code,
      ...(type === "" ? {} : { type }),
      ...(warnings.length === 0 ? {} : { warnings }),
      body: this.#normaliser.value(body),
    };
  }

  #wireRequest(step: Pick<RequestStep, "do" | "body" | "type" | "accept" | "as" | "headers">): WireRequest {
    const [, method = "", path = ""] = /^(\S+) (.*)$/s.exec(step.do) ?? [];
    const { body, as = "admin" } = step;
    const defaultType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const token = this.#target.tokens[as] ?? as;
    const headers = {
      ...(as === "" ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": step.type ?? defaultType }),
      accept: step.accept ?? "application/json",
      ...step.headers,
    };
    const bytes =
      body === undefined || typeof body === "string" || body instanceof Buffer ? body : JSON.stringify(body);
    return {
      method,
      path: wholePath(path, this.#namespace),
      headers: bytes === undefined ? headers : { ...headers, "content-length": String(Buffer.byteLength(bytes)) },
      ...(bytes === undefined ? {} : { body: bytes }),
    };
  }

  #save(save: Readonly<Record<string, string>> | undefined, body: JsonValue): void {
    for (const [name, path] of Object.entries(save ?? {})) {
      const value = at(body, path);
      if (value === undefined) throw new Error(`there is no ${path} to save in ${JSON.stringify(body)}`);
      this.#saved.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
  }

  /** The step with saved values in place of names in braces. */
  #filled<T>(value: T): T {
    if (typeof value === "string") {
      return value.replaceAll(/\{(\w+)\}/g, (all, name: string) => this.#saved.get(name) ?? all) as T;
    }
    if (value instanceof Buffer) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.#filled(item)) as T;
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [this.#filled(key), this.#filled(member as unknown)]),
      ) as T;
    }
    return value;
  }

  #compared({ show, unordered = false, ...step }: Step, shown: JsonValue): Shown {
    const isOneAnswer = isJsonObject(shown) && "code" in shown;
    const body = isOneAnswer ? shown["body"] : shown;
    if ("until" in step && show === undefined) return { code: isOneAnswer ? (shown["code"] ?? 0) : 0 };
    if (show === undefined) return unordered ? orderless(shown) : shown;
    const parts = Object.fromEntries(
      show.map((path) => {
        const part = at(body, path) ?? "absent";
        return [path, unordered ? orderless(part) : part];
      }),
    );
    return isOneAnswer ? { code: shown["code"] ?? 0, ...parts } : parts;
  }
}

interface Outcome {
  readonly shown: JsonValue;
  readonly problem: string;
}

/** A kubectl that runs until the case ends, as `get -w` does. */
class BackgroundCommand {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(args: readonly string[], kubeconfig: string) {
    this.#child = spawn(componentFile("kubectl"), [...args, `--kubeconfig=${kubeconfig}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#lines = createInterface({ input: this.#child.stdout ?? process.stdin })[Symbol.asyncIterator]();
  }

  async next(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done === true ? undefined : value;
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Parses JSON; other text stays text. */
function bodyOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function problemOf(want: RequestStep["want"], code: number, body: JsonValue): string {
  if (want === undefined) return code < 300 ? "" : `rejected with ${code}: ${JSON.stringify(body)}`;
  const [wantedCode, wantedBody] = typeof want === "number" ? [want, undefined] : want;
  if (code !== wantedCode) return `the code is ${code}, not ${wantedCode}: ${JSON.stringify(body).slice(0, 600)}`;
  return wantedBody === undefined ? "" : lacks(body, wantedBody);
}

function orderless(value: JsonValue): JsonValue {
  if (isJsonArray(value)) {
    return value.map(orderless).sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, orderless(member)]));
}

async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function titleOf(step: Step): string {
  if ("kubectl" in step) return `kubectl ${typeof step.kubectl === "string" ? step.kubectl : step.kubectl.join(" ")}`;
  if ("until" in step) return `until ${step.until}`;
  if ("events" in step) return `events of ${step.events}`;
  if ("lines" in step) return `lines of ${step.lines}`;
  return step.do;
}
