import { HEADERS, omitUndefined, packageRevisionToWire, revisionToWire, topologyToWire } from "@oaas/contracts/rest";
import { invalidArgument } from "@oaas/foundation";
import type { PackageName } from "@oaas/models";
import { maskPackage } from "../../masking/mask-settings.ts";
import { groupTopology, topologyOfPackage } from "../../status/group-topology.ts";
import type { PackageQuery, RegisteredPackage, Registry, StatusReader } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpRequest } from "../handler.ts";
import {
  classJson,
  functionJson,
  maskedFunctionJson,
  packageSummaryJson,
  pageSerialiser,
} from "../presenters/serialised.ts";
import { etagOf } from "../request/preconditions.ts";
import { pageRequestOf, revisionIn, withReason, type Parameters } from "./parameters.ts";
import { accepted, acknowledged, pageHeaders, previewReply } from "./replies.ts";

/** Handlers of packages and their history. */
export function packageHandlers(registry: Registry): HandlersOf<"packages"> {
  const nameIn = (parameters: Parameters): PackageName => parameters["name"] as PackageName;
  const packagePage = pageSerialiser(({ json: text }: RegisteredPackage) => text);
  const maskedPage = pageSerialiser(({ masked, json: text }: RegisteredPackage) => masked?.json ?? text);
  const summaryPage = pageSerialiser(({ package: definition }: RegisteredPackage) => packageSummaryJson(definition));
  return {
    createPackage: async ({ body, query, call, idempotency }) => {
      const options = omitUndefined({ applyDeployments: query.apply_deployments });
      if (query.dry_run === true) return previewReply(await registry.preview(body, options));
      const ack = await registry.register(body, call, { ...options, idempotency });
      return acknowledged(ack, 201, { [HEADERS.location]: packageUrl(body.name) });
    },
    updatePackage: async ({ parameters, body, query, call, ifVersion, idempotency }) => {
      const name = nameIn(parameters);
      const options = { ...omitUndefined({ applyDeployments: query.apply_deployments }), ifVersion };
      if (query.dry_run === true) return previewReply(await registry.preview(body, { ...options, name }));
      return acknowledged(await registry.update(name, body, call, { ...options, idempotency }), 200);
    },
    deletePackage: async ({ parameters, query, call, ifVersion }) => {
      const name = nameIn(parameters);
      const outcome = await registry.remove(name, call, { ...omitUndefined({ cascade: query.cascade }), ifVersion });
      if (outcome === "deleted") return { status: 204 };
      return accepted({ id: name, message: "its deployments are being deleted first" }, packageUrl(name));
    },
    getPackage: async ({ parameters, showsSecrets }) => {
      const { value, version } = await registry.get(nameIn(parameters));
      const masked = showsSecrets ? undefined : value.masked;
      const headers = { [HEADERS.etag]: etagOf(version, masked !== undefined) };
      return { status: 200, json: (masked ?? value).json, headers };
    },
    listPackages: async ({ query, showsSecrets }) => {
      const page = await registry.list(packageQueryOf(query));
      return { status: 200, headers: pageHeaders(page), json: (showsSecrets ? packagePage : maskedPage)(page.items) };
    },
    listPackageSummaries: async ({ query }) => {
      const page = await registry.list(packageQueryOf(query));
      return { status: 200, headers: pageHeaders(page), json: summaryPage(page.items) };
    },
    getPackageDependencies: async ({ parameters }) => {
      const { packages, dependencies, totalPackages, totalDependencies } = await registry.dependencies(
        nameIn(parameters),
      );
      return json({
        packages,
        dependencies,
        total_packages: totalPackages,
        total_dependencies: totalDependencies,
      });
    },
    listPackageRevisions: async ({ parameters, query }) => {
      const page = await registry.revisions(nameIn(parameters), pageRequestOf(query));
      return json(page.items.map(revisionToWire), pageHeaders(page));
    },
    getPackageRevision: async ({ parameters }) => {
      const found = await registry.revision(nameIn(parameters), revisionIn(parameters));
      return json(packageRevisionToWire({ ...found, package: maskPackage(found.package) }));
    },
    diffPackage: async ({ parameters, query }) => json(await registry.diff(nameIn(parameters), query.from, query.to)),
    rollBackPackage: async ({ parameters, body, call, ifVersion, idempotency }) => {
      const reasoned = withReason(call, body.reason);
      const ack = await registry.rollBack(nameIn(parameters), body.revision, reasoned, { ifVersion, idempotency });
      return acknowledged(ack, 200);
    },
  };
}

function packageQueryOf(query: HttpRequest<"listPackages">["query"]): PackageQuery {
  const { name_pattern: namePattern, disabled, tags, sort } = query;
  return { ...pageRequestOf(query), ...omitUndefined({ namePattern, disabled, tags, sort }) };
}

function packageUrl(name: PackageName): string {
  return `/api/v1/packages/${encodeURIComponent(name)}`;
}

/** Handlers of the classes, functions and topology of all packages. */
export function catalogueHandlers(registry: Registry, status: StatusReader): HandlersOf<"catalogue"> {
  const classPage = pageSerialiser(classJson);
  const functionPage = pageSerialiser(functionJson);
  const maskedFunctionPage = pageSerialiser(maskedFunctionJson);
  return {
    listClasses: async ({ query }) => {
      const page = await registry.classes({ ...pageRequestOf(query), ...omitUndefined({ filter: query.filter }) });
      return { status: 200, headers: pageHeaders(page), json: classPage(page.items) };
    },
    listFunctions: async ({ query, showsSecrets }) => {
      const page = await registry.functions({ ...pageRequestOf(query), ...omitUndefined({ filter: query.filter }) });
      return {
        status: 200,
        headers: pageHeaders(page),
        json: (showsSecrets ? functionPage : maskedFunctionPage)(page.items),
      };
    },
    getTopology: async ({ query: { source, package_name: name, max_nodes: maxNodes } }) => {
      const whole = await status.topology(sourceOf(source));
      const part = name === undefined ? whole : topologyOfPackage(whole, name);
      return json(topologyToWire(maxNodes === undefined ? part : groupTopology(part, maxNodes)));
    },
  };
}

function sourceOf(source: string | undefined): "deployments" | "zenoh" {
  if (source === undefined || source === "deployments") return "deployments";
  if (source === "zenoh") return "zenoh";
  const message = `"${source}" is not a source of topology`;
  throw invalidArgument("the query", [{ path: "$.source", message, fix: "use deployments or zenoh" }]);
}
