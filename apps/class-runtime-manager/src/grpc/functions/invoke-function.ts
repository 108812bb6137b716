import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InvokeFunctionRequest, InvokeFunctionResponseSchema } from "@oaas/contracts/grpc";
import { failedPrecondition, invalidArgument, type Violation } from "@oaas/foundation";
import type { HttpRequest, KubeClient } from "@oaas/kube-runtime";
import type { StoredClass } from "../../classes/ports.ts";
import { assertFunction } from "./class-functions.ts";

/** A Service of a function. */
export interface FunctionService {
  readonly name: string;
  /** Name or number of its first port. */
  readonly port: string;
}

/** Dependencies of invocations. */
export interface InvokeDeps {
  /** The setting OPRC_CRM_FEATURES_INVOKE. */
  readonly isAllowed: boolean;
  readonly client: Pick<KubeClient, "proxyService">;
  /** The Service of a function; undefined when it has none. */
  readonly serviceOf: (
    object: StoredClass,
    functionKey: string,
    signal: AbortSignal,
  ) => Promise<FunctionService | undefined>;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const MAX_BODY_BYTES = 1024 * 1024;
/** Tells an image that serves several functions which one is called. */
const FUNCTION_HEADER = "oaas-function";

/** Sends one request to a function through the proxy of the API server. */
export async function invokeFunction(
  object: StoredClass,
  request: InvokeFunctionRequest,
  deps: InvokeDeps,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof InvokeFunctionResponseSchema>> {
  const { functionKey, body } = request;
  const subject = `function "${functionKey}"`;
  if (!deps.isAllowed) {
    throw failedPrecondition(
      subject,
      "invocations through the control plane are disabled in this cluster: set permissions.invoke=true in the chart of the class runtime manager (without Helm OPRC_CRM_FEATURES_INVOKE=true, and apply deploy/class-runtime-manager/invoke), or call the function from inside the cluster",
    );
  }
  const { method, path } = checkRequest(request);
  assertFunction(object, functionKey);
  const service = await deps.serviceOf(object, functionKey, signal);
  if (!service) {
    throw failedPrecondition(subject, `${subject} has no Kubernetes Service; call the URL in the status of the class`);
  }
  const response = await deps.client.proxyService(
    {
      namespace: object.metadata.namespace ?? "",
      service: service.name,
      port: service.port,
      method,
      path,
      headers: { [FUNCTION_HEADER]: functionKey, ...lowerCase(request.headers) },
      body,
      maxBytes: MAX_BODY_BYTES,
    },
    signal,
  );
  return { status: response.status, headers: { ...response.headers }, body: response.body };
}

function checkRequest({ method, path, headers, body }: InvokeFunctionRequest): {
  readonly method: HttpRequest["method"];
  readonly path: string;
} {
  const verb = method === "" ? "POST" : method.toUpperCase();
  const target = path === "" ? "/" : path;
  const violations: Violation[] = [
    ...(METHODS.has(verb)
      ? []
      : [{ path: "$.method", message: `"${method}" is not supported`, fix: `use one of ${[...METHODS].join(", ")}` }]),
    ...(isSafePath(target)
      ? []
      : [
          {
            path: "$.path",
            message: "is not a path",
            fix: "start it with /, encode other characters as in a URL, and use no .. segments",
          },
        ]),
    ...(body.length <= MAX_BODY_BYTES
      ? []
      : [{ path: "$.body", message: `has ${body.length} bytes`, fix: `send at most ${MAX_BODY_BYTES} bytes` }]),
    ...Object.entries(headers)
      .filter(([name, value]) => !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || !/^[\t\x20-\x7E]*$/.test(value))
      .map(([name]) => ({
        path: "$.headers",
        message: `${JSON.stringify(name)} is not a valid header`,
        fix: "use a token as name and printable ASCII characters as value",
      })),
  ];
  if (violations.length > 0) throw invalidArgument("the request", violations);
  return { method: verb as HttpRequest["method"], path: target };
}

/** Dot segments are rejected: a proxy in front of the API server could resolve them to another resource. */
function isSafePath(target: string): boolean {
  const [path = ""] = target.split("?");
  return /^\/[\x21-\x7E]*$/.test(target) && !/(?:^|\/|%2f)(?:\.|%2e){2}(?=\/|%2f|$)/i.test(path);
}

/** Without headers that belong to the connection or to the API server. */
function lowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(
        ([name]) =>
          !/^(?:authorization|connection|content-length|expect|host|te|trailer|transfer-encoding|upgrade|user-agent|keep-alive|impersonate-.*|proxy-.*)$/.test(
            name,
          ),
      ),
  );
}
