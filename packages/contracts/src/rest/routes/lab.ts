import { faultInput, labView, restoreInput } from "../resources/service/lab.ts";
import { BASE, type Route } from "./route.ts";

const LAB = `${BASE}/lab`;
const change = {
  method: "POST",
  tag: "lab",
  role: "admin",
  since: "ours",
  response: { status: 200, description: "The faults that are injected now.", schema: labView },
  faults: ["not-found", "failed-precondition"],
} as const;

/** Fault injection into the local stack; every other package manager answers 404. */
export const labRoutes = {
  getLab: {
    method: "GET",
    path: LAB,
    tag: "lab",
    summary: "Read which faults can be injected into the local stack, and which are",
    role: "viewer",
    since: "ours",
    response: { status: 200, description: "Clusters and faults.", schema: labView },
    faults: ["not-found"],
  },
  injectFault: {
    ...change,
    path: `${LAB}/faults`,
    summary: "Inject a fault into a cluster of the local stack",
    body: faultInput,
  },
  removeFaults: { ...change, path: `${LAB}/restore`, summary: "Remove one fault, or all of them", body: restoreInput },
} as const satisfies Readonly<Record<string, Route>>;
