import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { invalidArgument } from "@oaas/foundation";

/** A GET or HEAD request for a file of the console. */
export interface FileRequest {
  /** Without the query, still percent-encoded. */
  readonly path: string;
  readonly accept: string | undefined;
  /** The encodings to try, the preferred one first. */
  readonly encodings: readonly FileEncoding[];
  readonly ifNoneMatch: string | undefined;
}

export type FileEncoding = "br" | "gzip";

export interface FileReply {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

interface IndexedFile {
  readonly file: string;
  readonly type: string;
  readonly isImmutable: boolean;
  readonly variants: Readonly<Partial<Record<FileEncoding, string>>>;
}

interface LoadedFile {
  readonly content: Buffer;
  readonly etag: string;
}

const INDEX = "/index.html";
/** Vite puts a hash of the content into the names of these files. */
const HASHED = "/assets/";
const SUFFIXES: Readonly<Record<FileEncoding, string>> = { br: ".br", gzip: ".gz" };
/** All files may be in memory at the same time. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 5_000;
/** A page of the console never has these paths: a wrong path there is an error, not a page. */
const NOT_PAGES = /^\/(?:api|assets|docs|metrics|health|readyz|openapi\.json)(?:\/|$)/;
/** Replaced in index.html by a nonce for style elements, which editors and dialogs create at run time. */
const NONCE_MARK = "__CSP_NONCE__";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/**
 * The built console: `index.html`, hashed files below `/assets/`, and other files.
 *
 * *Guarantees*: request paths are compared with the files found at the start and never reach the file system; memory is bounded by the
 * size of the folder, and a file is read once, when it is first requested; scripts run from files of this origin only.
 */
export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, IndexedFile>;
  readonly #loaded = new Map<string, Promise<LoadedFile>>();

  /** Throws invalid-argument when the folder is not a built console. */
  constructor(folder: string) {
    // First: a wrong folder may be large.
    if (!existsSync(path.join(folder, "index.html"))) throw wrongFolder(folder, "has no index.html");
    this.#files = indexFolder(folder);
  }

  /** The response to a request; undefined for a path that is neither a file nor a page of the console. */
  async reply(request: FileRequest): Promise<FileReply | undefined> {
    const name = decoded(request.path);
    if (name === undefined) return undefined;
    const found = this.#files.get(name);
    if (found !== undefined && name !== INDEX) return this.#file(found, request);
    const isPage = name === "/" || name === INDEX || (isNavigation(request) && !NOT_PAGES.test(name));
    return isPage ? this.#page(request) : undefined;
  }

  async #file({ file, type, isImmutable, variants }: IndexedFile, request: FileRequest): Promise<FileReply> {
    const encoding = request.encodings.find((each) => variants[each] !== undefined);
    const { content, etag } = await this.#load((encoding && variants[encoding]) ?? file);
    const headers = {
      ...POLICY,
      "content-type": type,
      "content-security-policy": contentSecurityPolicy(),
      "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      etag,
      vary: "accept-encoding",
    };
    if (matches(request.ifNoneMatch, etag)) return { status: 304, headers, body: undefined };
    const encoded = encoding === undefined ? {} : { "content-encoding": encoding };
    return { status: 200, headers: { ...headers, ...encoded }, body: content };
  }

  async #page(request: FileRequest): Promise<FileReply> {
    const indexed = this.#files.get(INDEX) as IndexedFile;
    const { content } = await this.#load(indexed.file);
    if (!content.includes(NONCE_MARK)) return this.#file(indexed, request);
    const nonce = randomBytes(18).toString("base64");
    const headers = {
      ...POLICY,
      "content-type": indexed.type,
      "content-security-policy": contentSecurityPolicy(nonce),
      // A cached page would have the nonce of another response.
      "cache-control": "no-store",
    };
    return { status: 200, headers, body: Buffer.from(content.toString("utf8").replaceAll(NONCE_MARK, nonce)) };
  }

  #load(file: string): Promise<LoadedFile> {
    let loading = this.#loaded.get(file);
    if (loading === undefined) {
      loading = readFile(file).then((content) => ({ content, etag: etagOf(content) }));
      this.#loaded.set(file, loading);
      // Read again when the disk failed for a moment.
      loading.catch(() => this.#loaded.delete(file));
    }
    return loading;
  }
}

const POLICY = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Nothing of another origin, and no inline scripts. */
function contentSecurityPolicy(styleNonce?: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styleNonce === undefined ? "" : ` 'nonce-${styleNonce}'`}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function indexFolder(folder: string): ReadonlyMap<string, IndexedFile> {
  const names = namesIn(folder);
  let bytes = 0;
  for (const name of names) bytes += statSync(path.join(folder, name)).size;
  if (bytes > MAX_BYTES) throw wrongFolder(folder, `has ${bytes} bytes, more than ${MAX_BYTES}`);
  const known = new Set(names);
  const originals = names.filter((name) => !/\.(?:br|gz)$/.test(name) || !known.has(name.replace(/\.(?:br|gz)$/, "")));
  return new Map(originals.map((name) => [`/${name}`, indexedFile(folder, name, known)]));
}

/** Relative paths with `/`. Links are left out: they may lead out of the folder. */
function namesIn(folder: string): readonly string[] {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (cause) {
    throw wrongFolder(folder, "cannot be read", cause);
  }
  if (entries.length > MAX_FILES) throw wrongFolder(folder, `has more than ${MAX_FILES} files`);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
}

function indexedFile(folder: string, name: string, known: ReadonlySet<string>): IndexedFile {
  const variants = Object.entries(SUFFIXES).filter(([, suffix]) => known.has(name + suffix));
  return {
    file: path.join(folder, name),
    type: TYPES[path.extname(name)] ?? "application/octet-stream",
    isImmutable: `/${name}`.startsWith(HASHED),
    variants: Object.fromEntries(variants.map(([encoding, suffix]) => [encoding, path.join(folder, name + suffix)])),
  };
}

function wrongFolder(folder: string, message: string, cause?: unknown): Error {
  const fix = "build the console with: npm run build -w apps/console, or unset CONSOLE_DIR";
  return invalidArgument("CONSOLE_DIR", [{ path: "$.CONSOLE_DIR", message: `${folder} ${message}`, fix }], { cause });
}

function decoded(encodedPath: string): string | undefined {
  try {
    return decodeURIComponent(encodedPath);
  } catch {
    return undefined;
  }
}

/** Browsers ask for HTML when a person opens an address. */
function isNavigation({ accept = "" }: FileRequest): boolean {
  return accept.toLowerCase().includes("text/html");
}

function etagOf(content: Buffer): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((each) => ["*", etag, `W/${etag}`].includes(each.trim())) ?? false;
}
