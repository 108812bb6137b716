import type { JsonObject } from "@oaas/kube-core";
import type { Subject } from "../src/case.ts";
import { configMap, create, deployment, get, mergePatch, pod, remove, replace } from "../src/case-steps.ts";

const STAYS = configMap("a", { x: "1" }, { finalizers: ["example.test/stay"] });

function options(members: JsonObject): JsonObject {
  return { apiVersion: "v1", kind: "DeleteOptions", ...members };
}

export const deletion: Subject = {
  subject: "deletion",
  needs: "api",
  cases: [
    {
      name: "returns a Status that names the deleted object",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a", undefined, { want: [200, { kind: "Status", status: "Success" }] }),
        get("configmaps/a", { want: 404 }),
      ],
    },
    {
      name: "returns 404 for a missing object",
      steps: [remove("configmaps/a", undefined, { want: 404 })],
    },
    {
      name: "a finalizer keeps the object with a deletion timestamp",
      given: [create("configmaps", STAYS)],
      steps: [
        remove("configmaps/a", undefined, { want: [200, { metadata: { deletionGracePeriodSeconds: 0 } }] }),
        get("configmaps/a"),
        remove("configmaps/a"),
        mergePatch("configmaps/a", { data: { x: "2" } }),
        mergePatch("configmaps/a", { metadata: { finalizers: [] } }),
        get("configmaps/a", { want: 404 }),
      ],
    },
    {
      name: "rejects a new finalizer on an object that is being deleted",
      given: [create("configmaps", STAYS), remove("configmaps/a")],
      steps: [
        mergePatch(
          "configmaps/a",
          { metadata: { finalizers: ["example.test/stay", "example.test/more"] } },
          { want: 422 },
        ),
        mergePatch("configmaps/a", { metadata: { finalizers: ["example.test/other"] } }, { want: 422 }),
      ],
    },
    {
      name: "removes finalizers one by one",
      given: [
        create("configmaps", configMap("a", {}, { finalizers: ["example.test/a", "example.test/b"] })),
        remove("configmaps/a"),
      ],
      steps: [
        mergePatch("configmaps/a", { metadata: { finalizers: ["example.test/b"] } }),
        replace("configmaps/a", configMap("a")),
        get("configmaps/a", { want: 404 }),
      ],
    },
    {
      name: "frees the name only after the deletion",
      given: [create("configmaps", STAYS), remove("configmaps/a")],
      steps: [
        create("configmaps", configMap("a"), { want: 409 }),
        mergePatch("configmaps/a", { metadata: { finalizers: null } }, { show: [] }),
        create("configmaps", configMap("a"), { want: 201 }),
      ],
    },
    {
      name: "ignores a deletion timestamp from a client",
      given: [create("configmaps", configMap("a"))],
      steps: [
        mergePatch(
          "configmaps/a",
          { metadata: { deletionTimestamp: "2001-01-01T00:00:00Z" } },
          { show: ["metadata.deletionTimestamp", "reason", "message"], want: 422 },
        ),
        create("configmaps", configMap("b", {}, { deletionTimestamp: "2001-01-01T00:00:00Z" })),
      ],
    },
    {
      name: "rejects another uid as precondition",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a", options({ preconditions: { uid: "00000000-0000-0000-0000-000000000000" } }), {
          want: 409,
        }),
        get("configmaps/a", { show: [] }),
      ],
    },
    {
      name: "accepts the current uid and version as preconditions",
      steps: [
        create("configmaps", configMap("a"), { save: { uid: "metadata.uid", rv: "metadata.resourceVersion" } }),
        remove("configmaps/a", options({ preconditions: { uid: "{uid}", resourceVersion: "{rv}" } })),
      ],
    },
    {
      name: "rejects an outdated version as precondition",
      steps: [
        create("configmaps", configMap("a"), { save: { rv: "metadata.resourceVersion" } }),
        mergePatch("configmaps/a", { data: { x: "1" } }),
        remove("configmaps/a", options({ preconditions: { resourceVersion: "{rv}" } }), {
          want: 409,
          show: ["reason", "details"],
        }),
      ],
    },
    {
      name: "a dry run deletes nothing",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a?dryRun=All"),
        get("configmaps/a", { show: [] }),
        remove("configmaps/a", options({ dryRun: ["All"] })),
        get("configmaps/a", { show: [] }),
      ],
    },
    {
      name: "rejects an unknown propagation policy",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a?propagationPolicy=Sideways", undefined, { want: 422 }),
        remove("configmaps/a", options({ propagationPolicy: "Sideways" }), { want: 422 }),
        remove("configmaps/a", options({ propagationPolicy: "Orphan", orphanDependents: true }), { want: 422 }),
        remove("configmaps/a", options({ gracePeriodSeconds: -1 }), { show: ["kind", "reason"] }),
      ],
    },
    {
      name: "foreground and orphan set finalizers",
      given: [create("configmaps", configMap("a")), create("configmaps", configMap("b"))],
      steps: [
        remove("configmaps/a", options({ propagationPolicy: "Foreground" })),
        get("configmaps/a"),
        remove("configmaps/b?propagationPolicy=Orphan"),
        get("configmaps/b"),
        remove("configmaps/b?propagationPolicy=Background"),
      ],
    },
    {
      name: "deletes a pod without a node at once and one on a node after its grace period",
      given: [create("pods", pod("free")), create("pods", pod("bound", { nodeName: "n1" }))],
      steps: [
        remove("pods/free", undefined, { show: ["kind", "status", "metadata.deletionGracePeriodSeconds"] }),
        remove("pods/bound", undefined, { want: [200, { kind: "Pod", metadata: { deletionGracePeriodSeconds: 30 } }] }),
        get("pods/bound"),
        remove("pods/bound", options({ gracePeriodSeconds: 5 }), { show: ["metadata.deletionGracePeriodSeconds"] }),
        remove("pods/bound?gracePeriodSeconds=0", undefined, { show: ["kind", "metadata.deletionGracePeriodSeconds"] }),
        get("pods/bound", { want: 404 }),
      ],
    },
    {
      name: "skips a version when a deletion removes the finalizers of an earlier one",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a", options({ propagationPolicy: "Orphan" }), { save: { rv: "metadata.resourceVersion" } }),
        remove(
          "configmaps/a",
          options({ propagationPolicy: "Background", preconditions: { resourceVersion: "{rv}" } }),
          { want: 409, show: ["reason", "details"] },
        ),
        remove("configmaps/a", options({ propagationPolicy: "Background" })),
      ],
    },
    {
      name: "sends MODIFIED before DELETED for a gracefully deleted pod",
      given: [create("pods", pod("free"))],
      steps: [
        get("pods", { save: { rv: "metadata.resourceVersion" }, show: ["kind"] }),
        remove("pods/free", undefined, { show: ["kind", "metadata.deletionGracePeriodSeconds"] }),
        { watch: "w", do: "GET pods?watch=true&resourceVersion={rv}" },
        { events: "w", count: 2, show: ["[*].type", "[*].object.metadata.deletionGracePeriodSeconds"] },
      ],
    },
    {
      name: "deletion increments the generation of a Deployment",
      given: [
        create("deployments", { ...deployment("web"), metadata: { name: "web", finalizers: ["example.test/stay"] } }),
      ],
      steps: [
        remove("deployments/web", undefined, { show: ["metadata.generation", "metadata.deletionGracePeriodSeconds"] }),
      ],
    },
    {
      name: "rejects delete options that are not JSON or of another kind",
      given: [create("configmaps", configMap("a"))],
      steps: [
        remove("configmaps/a", "{nope", { want: 400 }),
        remove("configmaps/a", { apiVersion: "v1", kind: "ConfigMap" }, { want: 400 }),
        remove("configmaps/a", {}, { want: 200 }),
      ],
    },
    {
      name: "deletecollection marks all objects with finalizers",
      given: [create("configmaps", STAYS), create("configmaps", configMap("b"))],
      steps: [
        remove("configmaps"),
        { ...get("configmaps"), show: ["items[*].metadata.name", "items[*].metadata.deletionGracePeriodSeconds"] },
        mergePatch("configmaps/a", { metadata: { finalizers: null } }, { show: [] }),
      ],
    },
    {
      name: "accepts an owner with another uid",
      steps: [
        create(
          "configmaps",
          configMap(
            "a",
            {},
            {
              ownerReferences: [
                { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "33333333-3333-3333-3333-333333333333" },
              ],
            },
          ),
        ),
      ],
    },
    {
      name: "requires complete owner references and allows one controller",
      steps: [
        create(
          "configmaps",
          configMap("a", {}, { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "o" }] }),
          { want: 422 },
        ),
        create("configmaps", configMap("a", {}, { ownerReferences: [{ kind: "ConfigMap", name: "", uid: "1" }] }), {
          want: 422,
        }),
        create(
          "configmaps",
          configMap(
            "a",
            {},
            {
              ownerReferences: ["1", "2"].map((uid) => ({
                apiVersion: "v1",
                kind: "ConfigMap",
                name: `o${uid}`,
                uid,
                controller: true,
              })),
            },
          ),
          { want: 422 },
        ),
        create(
          "configmaps",
          configMap("a", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "o", uid: "1" }] }),
          { want: 422 },
        ),
      ],
    },
    {
      name: "validates names of finalizers",
      steps: [
        create("configmaps", configMap("a", {}, { finalizers: ["no-domain"] }), { want: 422 }),
        create("configmaps", configMap("a", {}, { finalizers: ["bad name/x"] }), { want: 422 }),
        create("configmaps", configMap("a", {}, { finalizers: ["orphan", "foregroundDeletion"] }), { want: 422 }),
      ],
    },
  ],
};
