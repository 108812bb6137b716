import { HEADERS, packageToWire } from "@oaas/contracts/rest";
import type { PackageName } from "@oaas/models";
import type { Registry } from "../../use-cases.ts";
import { json, type Handlers } from "../handler.ts";
import { acknowledged, accepted, rehearsedReply } from "../presenters/acknowledgement.ts";
import { classesJson, functionsJson } from "../presenters/catalogue.ts";
import { diffToWire, revisionToWire } from "../presenters/revision.ts";
import { etagOf } from "../preconditions.ts";
import { pageHeaders, pageRequestOf, revisionIn } from "./paging.ts";

type PackageOperation =
  | "createPackage"
  | "listPackages"
  | "getPackage"
  | "updatePackage"
  | "deletePackage"
  | "listPackageRevisions"
  | "getPackageRevision"
  | "diffPackage"
  | "rollBackPackage"
  | "listClasses"
  | "listFunctions";

/** Packages, their history, and the catalogue of what is in them. */
export function packageHandlers(registry: Registry): Handlers<PackageOperation> {
  const nameIn = (parameters: Readonly<Record<string, string>>): PackageName => parameters["name"] as PackageName;
  return {
    createPackage: async ({ body, query, call, once }) =>
      query.dry_run === true
        ? rehearsedReply(await registry.preview(body, applying(query)))
        : acknowledged(await registry.register(body, call, { ...applying(query), once }), 201, {
            [HEADERS.location]: packageUrl(body.name),
          }),
    updatePackage: async ({ parameters, body, query, call, ifVersion, once }) => {
      const name = nameIn(parameters);
      const how = { ...applying(query), ifVersion, once };
      return query.dry_run === true
        ? rehearsedReply(await registry.preview(body, { ...how, name }))
        : acknowledged(await registry.update(name, body, call, how), 200);
    },
    deletePackage: async ({ parameters, query, call, ifVersion }) => {
      const name = nameIn(parameters);
      const outcome = await registry.remove(name, call, {
        ifVersion,
        ...(query.cascade === undefined ? {} : { cascade: query.cascade }),
      });
      if (outcome === "deleted") return { status: 204 };
      const message = "its deployments are being deleted first";
      return accepted({ id: name, message }, packageUrl(name));
    },
    getPackage: async ({ parameters }) => {
      const { value, version } = await registry.get(nameIn(parameters));
      return { status: 200, json: value.json, headers: { etag: etagOf(version) } };
    },
    listPackages: async ({ query }) => {
      const { name_pattern: namePattern, disabled, tags, sort } = query;
      const page = await registry.list({
        ...pageRequestOf(query),
        ...(namePattern === undefined ? {} : { namePattern }),
        ...(disabled === undefined ? {} : { disabled }),
        ...(tags === undefined ? {} : { tags }),
        ...(sort === undefined ? {} : { sort }),
      });
      return { status: 200, headers: pageHeaders(page), json: `[${page.items.map((each) => each.json).join(",")}]` };
    },
    listPackageRevisions: async ({ parameters, query }) => {
      const page = await registry.revisions(nameIn(parameters), pageRequestOf(query));
      return json(page.items.map(revisionToWire), pageHeaders(page));
    },
    getPackageRevision: async ({ parameters }) => {
      const found = await registry.revision(nameIn(parameters), revisionIn(parameters));
      return json({ ...revisionToWire(found), package: packageToWire(found.package) });
    },
    diffPackage: async ({ parameters, query }) =>
      json(diffToWire(await registry.diff(nameIn(parameters), query.from, query.to))),
    rollBackPackage: async ({ parameters, body, call, ifVersion, once }) =>
      acknowledged(
        await registry.rollBack(nameIn(parameters), body.revision, call.because(body.reason), {
          ifVersion,
          once,
        }),
        200,
      ),
    listClasses: async ({ query }) => {
      const page = await registry.classes({ ...pageRequestOf(query), ...filtered(query.filter) });
      return { status: 200, headers: pageHeaders(page), json: classesJson(page.items) };
    },
    listFunctions: async ({ query }) => {
      const page = await registry.functions({ ...pageRequestOf(query), ...filtered(query.filter) });
      return { status: 200, headers: pageHeaders(page), json: functionsJson(page.items) };
    },
  };
}

function packageUrl(name: PackageName): string {
  return `/api/v1/packages/${encodeURIComponent(name)}`;
}

function applying({ apply_deployments: applyDeployments }: { readonly apply_deployments?: boolean | undefined }) {
  return applyDeployments === undefined ? {} : { applyDeployments };
}

function filtered(filter: string | undefined): { readonly filter?: string } {
  return filter === undefined ? {} : { filter };
}
