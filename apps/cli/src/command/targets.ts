import { nearestName } from "@oaas/foundation";
import { findKind, KINDS, type KindName } from "./kinds.ts";
import { UsageError } from "../exit-code.ts";

/** One object, named on the command line. */
export interface ObjectReference {
  readonly kind: KindName;
  readonly name: string;
}

/** What the arguments of a command select: all objects of some kinds, or named ones. */
export type Targets =
  | { readonly of: "kinds"; readonly kinds: readonly KindName[] }
  | { readonly of: "objects"; readonly objects: readonly ObjectReference[] };

/** The kinds of `oaas get all`. */
const ALL: readonly KindName[] = ["package", "deployment", "class-runtime", "cluster"];

/** Parses `KIND`, `KIND,KIND`, `all`, `KIND NAME…` or `KIND/NAME…`. */
export function parseTargets(args: readonly string[]): Targets {
  const [first, ...names] = args;
  if (first === undefined)
    throw new UsageError(
      "no kind given",
      "name a kind, such as deployments, or an object, such as deployment/shop-order",
    );
  const pairs = args.filter((arg) => arg.includes("/"));
  if (pairs.length > 0) {
    const other = args.find((arg) => !arg.includes("/"));
    if (other !== undefined)
      throw new UsageError(`"${other}" has no kind`, "write every argument as KIND/NAME, or as KIND NAME NAME");
    return { of: "objects", objects: pairs.map(parseReference) };
  }
  const kinds = first === "all" ? ALL : first.split(",").map(parseKind);
  if (names.length === 0) return { of: "kinds", kinds };
  if (first === "all") throw new UsageError("all takes no names", `write KIND NAME, such as deployment ${names[0]}`);
  return { of: "objects", objects: kinds.flatMap((kind) => names.map((name) => ({ kind, name }))) };
}

/** Parses a kind; the error names the nearest one. */
function parseKind(word: string): KindName {
  const kind = findKind(word);
  if (kind) return kind.name;
  const nearest = nearestName(
    word,
    KINDS.flatMap(({ name, plural }) => [name, plural]),
  );
  const suggestion = nearest === undefined ? "" : `did you mean ${nearest}? `;
  const list = KINDS.map(({ plural, shortNames: [short] }) => `${plural} (${short})`).join(", ");
  throw new UsageError(`unknown kind "${word}"`, `${suggestion}kinds: ${list}`);
}

function parseReference(text: string): ObjectReference {
  const at = text.indexOf("/");
  const name = text.slice(at + 1);
  if (name === "") throw new UsageError(`"${text}" has no name`, "write KIND/NAME, such as deployment/shop-order");
  return { kind: parseKind(text.slice(0, at)), name };
}

/** Parses one object: `KIND/NAME`, `KIND NAME`, or the name of a deployment. */
export function parseOneTarget(args: readonly string[]): ObjectReference {
  const [first = "", ...rest] = args;
  if (rest.length === 0 && !first.includes("/")) {
    const kind = findKind(first);
    if (kind) throw new UsageError(`no ${kind.name} given`, `write ${kind.name}/NAME`);
    return { kind: "deployment", name: first };
  }
  const targets = parseTargets(args);
  const [object, other] = targets.of === "objects" ? targets.objects : [];
  if (object === undefined || other !== undefined) throw new UsageError("name one object", "write KIND/NAME");
  return object;
}
