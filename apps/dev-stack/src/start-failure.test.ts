import { failedPrecondition, Fault, internal, resourceExhausted } from "@oaas/foundation";
import { expect, test } from "vitest";
import { startFailure } from "./start-failure.ts";

const noSpace = Object.assign(new Error("ENOSPC: no space left on device, write"), {
  code: "ENOSPC",
  path: "/data/clusters/edge/kubeconfig",
});

test.each([
  {
    why: "a full disk, as the file system says it",
    thrown: noSpace,
    text: /^\/data\/clusters\/edge\/kubeconfig: the disk is full\. Make room .*nothing was lost$/,
  },
  { why: "the same within a fault", thrown: Fault.from(noSpace), text: /the disk is full/ },
  {
    why: "the same below what was to be done",
    thrown: failedPrecondition("database file", "f cannot be opened for writing (ENOSPC)", { cause: noSpace }),
    text: /the disk is full/,
  },
  {
    why: "a file of somebody else's that may not be read is told by who wanted to read it",
    thrown: failedPrecondition("kubeconfig", "your kubeconfig cannot be read", {
      cause: Object.assign(new Error("EACCES"), { code: "EACCES", path: "/k" }),
    }),
    text: /^your kubeconfig cannot be read$/,
  },
  {
    why: "a full disk, as the store says it",
    thrown: resourceExhausted("disk", "the database's disk or quota is full", { code: "OAAS_STORE_FULL" }),
    text: /^the database's disk or quota is full\nMake room/,
  },
  {
    why: "another stack on the folder",
    thrown: failedPrecondition("file", "f is in use by process 7", { code: "OAAS_STORE_IN_USE" }),
    text: /process 7\n.*oaas down.*--data/,
  },
  {
    why: "data of a newer version",
    thrown: failedPrecondition("file", "newer", { code: "OAAS_STORE_NEWER_SCHEMA" }),
    text: /^newer\nStart it with the version that wrote it/,
  },
  { why: "what says it all stands as it is", thrown: failedPrecondition("x", "say it"), text: /^say it$/ },
  {
    why: "a mistake of ours is shown where it is",
    thrown: internal("x", { cause: new Error("here") }),
    text: /here\n +at /,
  },
])("$why", ({ thrown, text }) => {
  expect(startFailure(thrown)).toMatch(text);
});
