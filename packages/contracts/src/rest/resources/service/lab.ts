import { z } from "zod";
import { field, input, optional, readText, view } from "../../reading/fields.ts";

/** An injected fault. */
const injectedFaultView = view({
  fault: field("Kind of the fault.", z.string()),
  cluster: field("Cluster that has it.", z.string()),
});

/** The faults that can be injected into the local stack, and those that are. */
export const labView = view({
  clusters: field("Clusters of the stack.", z.array(z.string())),
  faults: field(
    "Faults that can be injected into a cluster.",
    z.array(
      view({
        fault: field("Kind of the fault.", z.string()),
        title: field("What happens, in a few words.", z.string()),
        description: field("What happens, and what to expect.", z.string()),
      }),
    ),
  ),
  injected: field("Faults that are injected now.", z.array(injectedFaultView)),
});

/** A fault to inject. */
export const faultInput = input({
  fault: field("Kind of the fault.", readText()),
  cluster: field("Cluster to break.", readText()),
});

/** A fault to remove. */
export const restoreInput = input({
  fault: field("Kind of the fault; absent together with `cluster` to remove all faults.", optional(readText())),
  cluster: field("Cluster that has it.", optional(readText())),
});
