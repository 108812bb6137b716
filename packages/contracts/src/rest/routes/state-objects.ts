import { z } from "zod";
import {
  stateCollectionView,
  stateObjectInput,
  stateObjectSummaryView,
  stateObjectView,
  stateObjectWriteView,
} from "../resources/deployment/state-objects.ts";
import {
  checkClusterAliases,
  clusterQuery,
  PAGE_LIMITS,
  parameters,
  queryBoolean,
  queryInteger,
  queryText,
} from "./query.ts";
import { BASE, type Route } from "./route.ts";

const objectQuery = parameters(
  {
    collection: queryText(),
    partition: queryInteger({ min: 0, max: 2 ** 31 - 1 }),
    prefix: queryText(),
    fresh: queryBoolean(),
    ...clusterQuery,
    limit: queryInteger({ min: 1, max: PAGE_LIMITS.most }),
    page_token: queryText(),
  },
  checkClusterAliases,
);

const oneObject = `${BASE}/deployments/{key}/objects/{collection}/{partition}/{object}`;
const faults = [
  "not-found",
  "failed-precondition",
  "resource-exhausted",
  "unavailable",
  "deadline-exceeded",
  "unimplemented",
] as const;
const shared = { tag: "objects", since: "ours", query: parameters(clusterQuery, checkClusterAliases), faults } as const;

/** The objects of a deployment, in the state stores of its clusters. */
export const stateObjectRoutes = {
  listStateCollections: {
    method: "GET",
    path: `${BASE}/deployments/{key}/collections`,
    tag: "objects",
    summary: "List the collections of a deployment and where they are stored",
    role: "viewer",
    since: "ours",
    response: {
      status: 200,
      description: "Collections in the order of the plan.",
      schema: z.array(stateCollectionView),
    },
    faults: ["not-found", "failed-precondition"],
  },
  listStateObjects: {
    ...shared,
    method: "GET",
    path: `${BASE}/deployments/{key}/objects`,
    summary:
      "List the objects of a collection, partition by partition and sorted by id; a page may have fewer objects than its limit",
    role: "viewer",
    query: objectQuery,
    response: {
      status: 200,
      description: "Objects without their entries.",
      schema: z.array(stateObjectSummaryView),
      headers: ["NextPageToken"],
    },
  },
  getStateObject: {
    ...shared,
    method: "GET",
    path: oneObject,
    summary: "Read an object with its entries; the value may be older than the last write",
    role: "deployer",
    response: { status: 200, description: "The object.", schema: stateObjectView },
  },
  setStateObject: {
    ...shared,
    method: "PUT",
    path: oneObject,
    summary: "Create or replace an object; its triggers are removed",
    role: "deployer",
    body: stateObjectInput,
    response: { status: 200, description: "Acknowledged by the store.", schema: stateObjectWriteView },
  },
  deleteStateObject: {
    ...shared,
    method: "DELETE",
    path: oneObject,
    summary: "Delete an object",
    role: "deployer",
    response: { status: 200, description: "Acknowledged by the store.", schema: stateObjectWriteView },
  },
} as const satisfies Readonly<Record<string, Route>>;
