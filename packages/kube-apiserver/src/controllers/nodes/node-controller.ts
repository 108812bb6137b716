import type { Controller } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { nameOfKey, NODES, objectKey, PODS } from "../objects/resources.ts";
import type { Node, Pod } from "../objects/typed.ts";
import { decideNode, SILENCE_MS } from "./decide-node.ts";
import { isLost } from "./node-state.ts";

export function nodeController(options: { readonly silenceMs?: number } = {}): Controller {
  const since = new Map<string, { readonly lost: boolean; readonly atMs: number }>();
  return {
    name: "nodes",
    reporter: "node-controller",
    writer: "kube-controller-manager",
    watches: [{ kind: NODES, keys: (object) => [objectKey("", typed(object).metadata.name)] }],
    decide(key, { view, now }) {
      const { name } = nameOfKey(key);
      const node = view.get<Node>(NODES, "", name);
      if (!node) {
        since.delete(name);
        return SETTLED;
      }
      const before = since.get(name);
      const atMs = before?.lost === isLost(node) ? before.atMs : now;
      since.set(name, { lost: isLost(node), atMs });
      return decideNode({
        node,
        inStateMs: now - atMs,
        silenceMs: options.silenceMs ?? SILENCE_MS,
        now,
        podsOf: () => podsOn(name, view),
      });
    },
  };
}

export function podsOn(nodeName: string, view: ClusterView): ReturnType<typeof view.list<Pod>> {
  return view.list<Pod>(PODS).filter(({ spec }) => spec?.nodeName === nodeName);
}
