import type { JsonObject } from "@oaas/kube-core";
import type { Step, Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  configMap,
  create,
  installDefinition,
  get,
  waitUntilGone,
  mergePatch,
  remove,
  thing,
  thingDefinition,
  waitFor,
} from "../src/case-steps.ts";

const OWNER = create("configmaps", configMap("owner"), { save: { owner: "metadata.uid" } });

function owned(name: string, uid = "{owner}", others: JsonObject = {}): Step {
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, ...others };
  return create("configmaps", configMap(name, {}, { ownerReferences: [reference] }));
}

function deleting(propagationPolicy: string): JsonObject {
  return { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy };
}

export const garbage: Subject = {
  subject: "garbage",
  needs: "controllers",
  cases: [
    {
      name: "deletes dependents of a deleted owner recursively",
      given: [
        OWNER,
        { ...owned("child"), save: { child: "metadata.uid" } },
        create("secrets", {
          apiVersion: "v1",
          kind: "Secret",
          metadata: {
            name: "grandchild",
            ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "child", uid: "{child}" }],
          },
        }),
      ],
      steps: [remove("configmaps/owner"), waitUntilGone("configmaps/child"), waitUntilGone("secrets/grandchild")],
    },
    {
      name: "foreground deletion deletes the owner last",
      given: [
        OWNER,
        owned("child", "{owner}", { blockOwnerDeletion: true }),
        mergePatch("configmaps/child", { metadata: { finalizers: ["example.test/stay"] } }),
      ],
      steps: [
        remove("configmaps/owner", deleting("Foreground")),
        waitFor("configmaps/child", { metadata: { deletionGracePeriodSeconds: 0 } }, { show: ["metadata.finalizers"] }),
        get("configmaps/owner", { show: ["metadata.finalizers", "metadata.deletionGracePeriodSeconds"] }),
        mergePatch("configmaps/child", { metadata: { finalizers: null } }, { show: [] }),
        waitUntilGone("configmaps/child"),
        waitUntilGone("configmaps/owner"),
      ],
    },
    {
      name: "foreground deletion waits only for blocking dependents",
      given: [
        OWNER,
        owned("child", "{owner}", { blockOwnerDeletion: false }),
        mergePatch("configmaps/child", { metadata: { finalizers: ["example.test/stay"] } }),
      ],
      steps: [
        remove("configmaps/owner", deleting("Foreground"), { show: [] }),
        waitUntilGone("configmaps/owner"),
        waitFor("configmaps/child", { metadata: { deletionGracePeriodSeconds: 0 } }),
        mergePatch("configmaps/child", { metadata: { finalizers: null } }, { show: [] }),
      ],
    },
    {
      name: "orphaning keeps dependents without their owner",
      given: [OWNER, owned("child")],
      steps: [
        remove("configmaps/owner", deleting("Orphan")),
        waitUntilGone("configmaps/owner"),
        get("configmaps/child", { show: ["metadata.ownerReferences", "metadata.deletionTimestamp"] }),
      ],
    },
    {
      name: "deletes an object with two owners after the last one",
      given: [
        OWNER,
        create("configmaps", configMap("second"), { save: { second: "metadata.uid" } }),
        create(
          "configmaps",
          configMap(
            "child",
            {},
            {
              ownerReferences: [
                { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "{owner}" },
                { apiVersion: "v1", kind: "ConfigMap", name: "second", uid: "{second}" },
              ],
            },
          ),
        ),
      ],
      steps: [
        remove("configmaps/owner", undefined, { show: [] }),
        waitFor("configmaps/child", { metadata: { ownerReferences: [{ name: "second" }] } }),
        remove("configmaps/second", undefined, { show: [] }),
        waitUntilGone("configmaps/child"),
      ],
    },
    {
      name: "deletes an object whose owner never existed",
      steps: [owned("child", "99999999-9999-9999-9999-999999999999"), waitUntilGone("configmaps/child")],
    },
    {
      name: "accepts a custom object as owner",
      given: [
        ...installDefinition(thingDefinition(ANY_OBJECT)),
        create("things", thing("owner", {}), { save: { owner: "metadata.uid" } }),
        create(
          "configmaps",
          configMap(
            "child",
            {},
            { ownerReferences: [{ apiVersion: "{ns}.test/v1", kind: "Thing", name: "owner", uid: "{owner}" }] },
          ),
        ),
        create(
          "things",
          thing(
            "small",
            {},
            {
              metadata: {
                ownerReferences: [{ apiVersion: "{ns}.test/v1", kind: "Thing", name: "owner", uid: "{owner}" }],
              },
            },
          ),
        ),
      ],
      steps: [remove("things/owner"), waitUntilGone("configmaps/child"), waitUntilGone("things/small")],
    },
    {
      name: "deletes a namespace with its content",
      given: [
        create("configmaps", configMap("a")),
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
      ],
      steps: [
        remove("namespaces/{ns}", undefined, {
          want: [200, { status: { phase: "Terminating" } }],
          show: ["kind", "spec", "status.phase"],
        }),
        waitUntilGone("namespaces/{ns}"),
        get("configmaps", { want: [200, { items: [] }] }),
      ],
    },
    {
      name: "a terminating namespace rejects creates and waits for finalizers",
      given: [
        create("configmaps", configMap("a", {}, { finalizers: ["example.test/stay"] })),
        remove("namespaces/{ns}"),
      ],
      steps: [
        create("configmaps", configMap("b"), { want: 403 }),
        waitFor(
          "namespaces/{ns}",
          { status: { conditions: [{ type: "NamespaceFinalizersRemaining", status: "True" }] } },
          {
            show: ["status.conditions[*].type", "status.conditions[*].status", "status.conditions[*].reason"],
            unordered: true,
          },
        ),
        mergePatch("configmaps/a", { metadata: { finalizers: null } }, { show: [] }),
        waitUntilGone("namespaces/{ns}"),
      ],
    },
    {
      name: "creates the default service account of a namespace",
      steps: [
        waitFor("serviceaccounts/default", {}, { show: ["kind", "metadata.name"] }),
        waitFor("configmaps/kube-root-ca.crt", {}, { show: ["kind", "metadata.annotations"] }),
      ],
    },
    {
      name: "creates the root certificates of a namespace",
      steps: [waitFor("configmaps/kube-root-ca.crt", {}, { show: ["data"] })],
    },
    {
      name: "rejects deletion of system namespaces",
      steps: [
        remove("namespaces/default", undefined, { want: 403 }),
        remove("namespaces/kube-system", undefined, { want: 403 }),
      ],
    },
    {
      name: "a repeated deletion returns the same result",
      given: [
        OWNER,
        owned("child"),
        mergePatch("configmaps/owner", { metadata: { finalizers: ["example.test/stay"] } }),
      ],
      steps: [
        remove("configmaps/owner", deleting("Background"), { show: ["metadata.finalizers"] }),
        remove("configmaps/owner", deleting("Foreground"), { show: ["metadata.finalizers"] }),
        waitUntilGone("configmaps/child"),
        mergePatch("configmaps/owner", { metadata: { finalizers: null } }, { show: [] }),
        waitUntilGone("configmaps/owner"),
      ],
    },
  ],
};
