import { z } from "zod";
import { freezeWindow, freezeWindowInput } from "../resources/cluster/freeze-window.ts";
import { BASE, type Route } from "./route.ts";

/** The calendar of freeze windows. */
export const freezeWindowRoutes = {
  listFreezeWindows: {
    method: "GET",
    path: `${BASE}/freeze-windows`,
    tag: "freeze-windows",
    summary: "List the freeze windows with their present state",
    role: "viewer",
    since: "ours",
    response: { status: 200, description: "All windows, by name.", schema: z.array(freezeWindow.view) },
    faults: [],
  },
  getFreezeWindow: {
    method: "GET",
    path: `${BASE}/freeze-windows/{name}`,
    tag: "freeze-windows",
    summary: "Read a freeze window",
    role: "viewer",
    since: "ours",
    response: { status: 200, description: "The window.", schema: freezeWindow.view },
    faults: ["not-found"],
  },
  setFreezeWindow: {
    method: "PUT",
    path: `${BASE}/freeze-windows/{name}`,
    tag: "freeze-windows",
    summary: "Create or replace a freeze window of clusters or of the whole platform",
    role: "admin",
    since: "ours",
    body: freezeWindowInput,
    response: { status: 200, description: "The window.", schema: freezeWindow.view },
    faults: ["failed-precondition"],
  },
  deleteFreezeWindow: {
    method: "DELETE",
    path: `${BASE}/freeze-windows/{name}`,
    tag: "freeze-windows",
    summary: "Delete a freeze window; one that is active ends",
    role: "admin",
    since: "ours",
    response: { status: 204, description: "Deleted." },
    faults: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
