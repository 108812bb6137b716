import { failedPrecondition, Fault, internal, resourceExhausted } from "@oaas/foundation";
import { expect, test } from "vitest";
import { startFailureText } from "./start-failure.ts";

const noSpace = Object.assign(new Error("ENOSPC: no space left on device, write"), {
  code: "ENOSPC",
  path: "/data/clusters/edge/kubeconfig",
});

test.each([
  {
    case: "a full disk reported by the file system",
    thrown: noSpace,
    text: /^\/data\/clusters\/edge\/kubeconfig: the disk is full\. Free some space .*no data was lost$/,
  },
  { case: "a full disk wrapped in a fault", thrown: Fault.from(noSpace), text: /the disk is full/ },
  {
    case: "a full disk as the cause of another fault",
    thrown: failedPrecondition("database file", "f cannot be opened for writing (ENOSPC)", { cause: noSpace }),
    text: /the disk is full/,
  },
  {
    case: "the message of a fault whose cause is a permission error",
    thrown: failedPrecondition("kubeconfig", "your kubeconfig cannot be read", {
      cause: Object.assign(new Error("EACCES"), { code: "EACCES", path: "/k" }),
    }),
    text: /^your kubeconfig cannot be read$/,
  },
  {
    case: "a full disk reported by the store",
    thrown: resourceExhausted("disk", "the database's disk or quota is full", { code: "OAAS_STORE_FULL" }),
    text: /^the database's disk or quota is full\nFree some space/,
  },
  {
    case: "a folder in use by another stack",
    thrown: failedPrecondition("file", "f is in use by process 7", { code: "OAAS_STORE_IN_USE" }),
    text: /process 7\n.*oaas down.*--data/,
  },
  {
    case: "data of a newer version",
    thrown: failedPrecondition("file", "newer", { code: "OAAS_STORE_NEWER_SCHEMA" }),
    text: /^newer\nStart it with the version that wrote it/,
  },
  { case: "a fault without a fix", thrown: failedPrecondition("x", "failed"), text: /^failed$/ },
  {
    case: "the stack trace of an internal error",
    thrown: internal("x", { cause: new Error("here") }),
    text: /here\n +at /,
  },
])("formats $case", ({ thrown, text }) => {
  expect(startFailureText(thrown)).toMatch(text);
});
