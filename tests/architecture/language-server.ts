import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ROOT } from "./sources.ts";

/** A place in a source file, by its offset in the text. */
export interface Reference {
  /** From the root of the repository. */
  readonly file: string;
  readonly offset: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Location {
  readonly uri: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
}

/** TypeScript's language server over this repository. It finds references by type, not by name. */
export class LanguageServer {
  readonly #process = spawn(path.join(ROOT, "node_modules", ".bin", "tsc"), ["--lsp", "--stdio"], {
    cwd: ROOT,
    stdio: ["pipe", "pipe", "ignore"],
  });
  readonly #pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<string, number>();
  #received = Buffer.alloc(0);
  #nextId = 1;

  constructor() {
    this.#process.stdout.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      for (let message = this.#nextMessage(); message !== undefined; message = this.#nextMessage()) {
        this.#handle(message);
      }
    });
    this.#process.on("exit", () => {
      for (const pending of this.#pending.values()) pending.reject(new Error("the language server ended"));
    });
  }

  async start(): Promise<void> {
    const rootUri = pathToFileURL(ROOT).href;
    await this.#request("initialize", {
      processId: process.pid,
      rootUri,
      capabilities: {},
      workspaceFolders: [{ uri: rootUri, name: "root" }],
    });
    this.#send({ method: "initialized", params: {} });
  }

  stop(): void {
    this.#process.kill();
  }

  /** Opens a file, with another text than the one on disk if `text` is given. Returns its text. */
  open(file: string, text: string = readFileSync(path.join(ROOT, file), "utf8")): string {
    if (this.#texts.get(file) === text) return text;
    const uri = uriOf(file);
    const version = (this.#versions.get(file) ?? 0) + 1;
    if (version === 1) {
      const textDocument = { uri, languageId: "typescript", version, text };
      this.#send({ method: "textDocument/didOpen", params: { textDocument } });
    } else {
      const params = { textDocument: { uri, version }, contentChanges: [{ text }] };
      this.#send({ method: "textDocument/didChange", params });
    }
    this.#versions.set(file, version);
    this.#texts.set(file, text);
    return text;
  }

  /** Finds the references to the symbol at `offset` of an open file, without its declarations. */
  async references({ file, offset }: Reference): Promise<Reference[]> {
    const lines = this.textOf(file).slice(0, offset).split("\n");
    const locations = await this.#request("textDocument/references", {
      textDocument: { uri: uriOf(file) },
      position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 },
      context: { includeDeclaration: false },
    });
    return ((locations ?? []) as readonly Location[]).map(({ uri, range: { start } }) => {
      const found = path.relative(ROOT, fileURLToPath(uri)).split(path.sep).join("/");
      const before = this.textOf(found).split("\n").slice(0, start.line).join("\n");
      return { file: found, offset: before.length + (start.line > 0 ? 1 : 0) + start.character };
    });
  }

  /** The text of a file as the server sees it. */
  textOf(file: string): string {
    return this.#texts.get(file) ?? readFileSync(path.join(ROOT, file), "utf8");
  }

  #request(method: string, params: unknown): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.#process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.#process.stdin.write(body);
  }

  #nextMessage(): Message | undefined {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(this.#received.subarray(0, end).toString())?.[1]);
    const [from, to] = [end + 4, end + 4 + length];
    if (this.#received.length < to) return undefined;
    const body = this.#received.subarray(from, to).toString();
    this.#received = this.#received.subarray(to);
    return JSON.parse(body) as Message;
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (id === undefined) return;
    if (method !== undefined) return this.#send({ id, result: params?.items?.map(() => null) ?? null });
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(JSON.stringify(error)));
  }
}

function uriOf(file: string): string {
  return pathToFileURL(path.join(ROOT, file)).href;
}
