import { groupResourceText } from "@oaas/kube-core";
import type { Circumstances } from "../kinds/kind.ts";
import { wholeSeconds } from "../controllers/objects/time.ts";
import type { World } from "./world.ts";

/** The context that the rules of kinds receive at a write. */
export function circumstancesOf(world: World): Circumstances {
  return {
    time: wholeSeconds(world.clock.now()),
    uuid: () => world.ids.uuid(),
    objects: (kind, namespace) =>
      world.store
        .objects(groupResourceText(kind))
        .withPrefix(namespace === undefined ? "" : `${namespace}/`)
        .map(({ object }) => object),
  };
}
