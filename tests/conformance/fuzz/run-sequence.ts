import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { at } from "../src/json-path.ts";
import type { WireRequest } from "../src/http.ts";
import { Normaliser } from "../src/normalise.ts";
import type { Target } from "../src/target.ts";
import type { FuzzKind, Operation, Sequence } from "./operations.ts";

const ROOTS: Readonly<Record<FuzzKind, { readonly root: string; readonly apiVersion: string; readonly kind: string }>> =
  {
    configmaps: { root: "/api/v1", apiVersion: "v1", kind: "ConfigMap" },
    deployments: { root: "/apis/apps/v1", apiVersion: "apps/v1", kind: "Deployment" },
    mixes: { root: "/apis/fuzz.test/v1", apiVersion: "fuzz.test/v1", kind: "Mix" },
  };

const LAST = "zz-last";

/** The response of each operation, and at the end all objects and the events of the watched kind. */
export async function runSequence(
  target: Target,
  namespace: string,
  sequence: Sequence,
): Promise<readonly JsonValue[]> {
  const run = new SequenceRun(target, namespace);
  const shown: JsonValue[] = [];
  await run.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const { watched } = sequence;
  const begin = watched === undefined ? undefined : await run.send("GET", run.path(watched));
  for (const operation of sequence.operations) shown.push(run.shown(await run.take(operation)));
  for (const kind of new Set(sequence.operations.map(({ kind }) => kind))) {
    shown.push(run.shown(await run.send("GET", run.path(kind))));
  }
  if (watched !== undefined && begin !== undefined)
    shown.push(await run.events(watched, at(begin.body, "metadata.resourceVersion")));
  return shown;
}

interface Answer {
  readonly code: number;
  readonly body: JsonValue;
  readonly warnings: readonly string[];
}

class SequenceRun {
  readonly #target: Target;
  readonly #namespace: string;
  readonly #normaliser = new Normaliser();
  /** Resource versions of each object, as seen in responses. */
  readonly #versions = new Map<string, string[]>();

  constructor(target: Target, namespace: string) {
    this.#target = target;
    this.#namespace = namespace;
  }

  path(kind: FuzzKind, name = ""): string {
    return `${ROOTS[kind].root}/namespaces/${this.#namespace}/${kind}${name === "" ? "" : `/${name}`}`;
  }

  shown({ code, body, warnings }: Answer): JsonValue {
    return { code, body: this.#normaliser.value(body), ...(warnings.length === 0 ? {} : { warnings }) };
  }

  async send(method: string, path: string, body?: JsonValue, type = "application/json"): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const request: WireRequest = {
      method,
      path,
      headers: {
        authorization: `Bearer ${this.#target.tokens["admin"] ?? ""}`,
        accept: "application/json",
        ...(text === undefined ? {} : { "content-type": type, "content-length": String(Buffer.byteLength(text)) }),
      },
      ...(text === undefined ? {} : { body: text }),
    };
    const answer = await this.#target.wire.send(request);
    const warnings = [answer.headers["warning"] ?? []].flat();
    return { code: answer.code, body: JSON.parse(answer.text) as JsonValue, warnings };
  }

  async take(operation: Operation): Promise<Answer> {
    const answer = await this.#do(operation);
    const version = at(answer.body, "metadata.resourceVersion");
    const name = at(answer.body, "metadata.name");
    if (typeof version === "string" && typeof name === "string") {
      const known = this.#versions.get(keyOf(operation)) ?? [];
      this.#versions.set(keyOf(operation), [...known, version]);
    }
    return answer;
  }

  #do(operation: Operation): Promise<Answer> {
    const {
      op,
      kind,
      name,
      manager,
      subresource,
      force = false,
      isDryRun = false,
      validation,
      selector,
      propagation,
    } = operation;
    const query = new URLSearchParams({
      fieldManager: manager,
      ...(isDryRun ? { dryRun: "All" } : {}),
      ...(validation === undefined ? {} : { fieldValidation: validation }),
    });
    const dry = isDryRun ? { dryRun: "All" } : {};
    const one = `${this.path(kind, name)}${subresource === undefined ? "" : `/${subresource}`}`;
    switch (op) {
      case "create":
        return this.send("POST", `${this.path(kind)}?${query.toString()}`, this.#whole(operation));
      case "update":
        return this.send("PUT", `${one}?${query.toString()}`, this.#whole(operation));
      case "merge":
        return this.send(
          "PATCH",
          `${one}?${query.toString()}`,
          this.#versioned(operation),
          "application/merge-patch+json",
        );
      case "strategic":
        return this.send(
          "PATCH",
          `${one}?${query.toString()}`,
          operation.body,
          "application/strategic-merge-patch+json",
        );
      case "json":
        return this.send("PATCH", `${one}?${query.toString()}`, operation.body, "application/json-patch+json");
      case "apply":
        query.set("force", String(force));
        return this.send("PATCH", `${one}?${query.toString()}`, this.#named(operation), "application/apply-patch+yaml");
      case "scale":
        return this.send(
          "PATCH",
          `${this.path(kind, name)}/scale?${query.toString()}`,
          operation.body,
          "application/merge-patch+json",
        );
      case "delete": {
        const version = this.#version(operation);
        return this.send("DELETE", `${one}?${new URLSearchParams(dry).toString()}`, {
          apiVersion: "v1",
          kind: "DeleteOptions",
          ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
          ...(version === undefined ? {} : { preconditions: { resourceVersion: version } }),
        });
      }
      case "deleteMany":
        return this.send(
          "DELETE",
          `${this.path(kind)}?${new URLSearchParams({ labelSelector: selector ?? "", ...dry }).toString()}`,
        );
      case "get":
        return this.send("GET", one);
      case "list":
        return this.send(
          "GET",
          `${this.path(kind)}?${new URLSearchParams({ labelSelector: selector ?? "" }).toString()}`,
        );
    }
  }

  /** The events since a version, up to that of a marker object. */
  async events(kind: FuzzKind, version: JsonValue | undefined): Promise<JsonValue> {
    const { apiVersion, kind: word } = ROOTS[kind];
    const last: Operation = { op: "create", kind, name: LAST, manager: "m1", body: {} };
    await this.send("POST", this.path(kind), { apiVersion, kind: word, ...this.#whole(last) });
    const stream = await this.#target.wire.open({
      method: "GET",
      path: `${this.path(kind)}?watch=true&timeoutSeconds=20&resourceVersion=${typeof version === "string" ? version : ""}`,
      headers: { authorization: `Bearer ${this.#target.tokens["admin"] ?? ""}`, accept: "application/json" },
    });
    const events: JsonValue[] = [];
    try {
      for (let line = await stream.next(); line !== undefined; line = await stream.next()) {
        const event = JSON.parse(line) as JsonValue;
        if (at(event, "object.metadata.name") === LAST) return events;
        events.push(this.#normaliser.value(event));
      }
      return [...events, "the watch ended"];
    } finally {
      stream.close();
    }
  }

  #named({ kind, name, body }: Operation): JsonObject {
    const { apiVersion, kind: word } = ROOTS[kind];
    const { metadata = {}, ...rest } = body as JsonObject;
    return { apiVersion, kind: word, ...rest, metadata: { ...(metadata as JsonObject), name } };
  }

  /** Adds the required members of the kind, so that most objects are valid. */
  #whole(operation: Operation): JsonObject {
    const object = this.#withVersion(this.#named(operation), operation);
    if (operation.kind !== "deployments") return object;
    const labels = { app: operation.name };
    const spec = (object["spec"] ?? {}) as JsonObject;
    const template = (spec["template"] ?? {}) as JsonObject;
    const podSpec = (template["spec"] ?? {}) as JsonObject;
    const containers = (podSpec["containers"] ?? []) as readonly JsonObject[];
    const some = containers.length === 0 ? [{ name: "main" }] : containers;
    return {
      ...object,
      spec: {
        ...spec,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { ...podSpec, containers: some.map((container) => ({ image: "example.test/web:1", ...container })) },
        },
      },
    };
  }

  #versioned(operation: Operation): JsonValue {
    return isJsonObject(operation.body) ? this.#withVersion(operation.body, operation) : operation.body;
  }

  #withVersion(object: JsonObject, operation: Operation): JsonObject {
    // A custom kind rejects an update without a version.
    const version = this.#version(
      operation.op === "update" ? { ...operation, version: operation.version ?? "current" } : operation,
    );
    if (version === undefined) return object;
    return { ...object, metadata: { ...(object["metadata"] as JsonObject | undefined), resourceVersion: version } };
  }

  #version(operation: Operation): string | undefined {
    const known = this.#versions.get(keyOf(operation)) ?? [];
    return operation.version === undefined ? undefined : operation.version === "first" ? known[0] : known.at(-1);
  }
}

function keyOf({ kind, name }: Operation): string {
  return `${kind}/${name}`;
}
