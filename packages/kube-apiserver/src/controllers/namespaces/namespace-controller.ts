import type { JsonObject, KubeObject } from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";
import type { Controller } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { CONFIG_MAPS, nameOfKey, NAMESPACES, objectKey, SERVICE_ACCOUNTS } from "../objects/resources.ts";
import type { Namespace } from "../objects/typed.ts";
import { decideNamespace, ROOT_CERTIFICATES, type Content } from "./decide.ts";

export interface NamespaceOptions {
  /** The certificates of `kube-root-ca.crt`, in PEM; empty without TLS. */
  readonly rootCertificates?: string;
}

export function namespaces(options: NamespaceOptions = {}): Controller {
  return {
    name: "namespaces",
    reporter: "namespace-controller",
    writer: "kube-controller-manager",
    watches: [{ kind: NAMESPACES, keys: (object) => [objectKey("", typed(object).metadata.name)] }],
    watchesAll: {
      // Objects affect their namespace only while it terminates or lacks its initial contents.
      changed: ({ kind, object, previous }, view) =>
        listAffectedKeys(kind, object ?? previous, object === undefined, view),
      initial: () => [],
    },
    decide(key, { view, now }) {
      const { name } = nameOfKey(key);
      const namespace = view.get<Namespace>(NAMESPACES, "", name);
      if (!namespace) return SETTLED;
      return decideNamespace({
        namespace,
        content: () => listContent(name, view),
        hasDefaultAccount: view.get(SERVICE_ACCOUNTS, name, "default") !== undefined,
        hasRootCertificates: view.get(CONFIG_MAPS, name, ROOT_CERTIFICATES) !== undefined,
        rootCertificates: options.rootCertificates ?? "",
        now,
      });
    },
  };
}

function listAffectedKeys(
  kind: ResourceName,
  object: JsonObject | undefined,
  isDeleted: boolean,
  view: ClusterView,
): string[] {
  const { namespace, name } = object ? typed<KubeObject>(object).metadata : {};
  if (namespace === undefined) return [];
  const isInitialObject = isDeleted && (name === "default" || name === ROOT_CERTIFICATES);
  const owner = view.get<Namespace>(NAMESPACES, "", namespace);
  const isTerminating = owner?.metadata.deletionTimestamp !== undefined;
  return owner && (isTerminating || (isInitialObject && kind.group === "")) ? [objectKey("", namespace)] : [];
}

/** Some kinds are served under two groups (events): each object is counted once, under the first. */
function listContent(namespace: string, view: ClusterView): readonly Content[] {
  const seen = new Set<string>();
  return view
    .kinds()
    .filter(({ isNamespaced }) => isNamespaced)
    .map((kind) => ({
      kind,
      objects: view.list<KubeObject>(kind, namespace).filter(({ metadata }) => {
        const isFirst = !seen.has(metadata.uid);
        seen.add(metadata.uid);
        return isFirst;
      }),
    }));
}
