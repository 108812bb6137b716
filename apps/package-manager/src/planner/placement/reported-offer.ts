import { ownEntry, type CandidateCluster, type PlanInput, type Reason } from "../plan-types.ts";

/** Templates that need a feature of the cluster. */
const NEEDED_CAPABILITY: Readonly<Record<string, string>> = { knative: "knative", kn: "knative", knsvc: "knative" };

/** A class whose objects must survive restarts needs a store that the operator declared persistent. */
export const MEMORY_STORE = "memory-store";

/** Why the state store of a cluster does not keep objects on volumes; undefined if it does. */
export function memoryStore({ reading }: CandidateCluster): Reason | undefined {
  if (reading?.persistentState === true) return undefined;
  return { code: MEMORY_STORE, text: "this state store keeps objects in memory, and the class is persistent: true" };
}

/**
 * What a class needs and a cluster reports that it does not offer. A cluster that reports nothing may offer everything.
 */
export function missingOffers(input: PlanInput, { name, reading }: CandidateCluster, needsStore: boolean): Reason[] {
  const offer = reading?.offer;
  if (offer === undefined) return [];
  const { clusterTemplates, templateHint } = input.deployment;
  const template = ownEntry(clusterTemplates, name) ?? templateHint;
  return [
    ...(needsStore && !offer.capabilities.includes("odgm") ? [NO_STORE] : []),
    ...(template === undefined ? [] : missingTemplate(template, offer)),
  ];
}

const NO_STORE: Reason = {
  code: "no-state-store",
  text: "it offers no state store (capability odgm), which the class needs; enable it there (OPRC_CRM_FEATURES_ODGM)",
};

function missingTemplate(
  template: string,
  { templates, capabilities }: { readonly templates: readonly string[]; readonly capabilities: readonly string[] },
): Reason[] {
  const word = template.toLowerCase();
  if (!templates.some((offered) => offered.toLowerCase() === word)) {
    const offered = templates.length === 0 ? "none" : templates.slice(0, 20).join(", ");
    return [{ code: "no-template", text: `it does not offer the template ${template} (it offers ${offered})` }];
  }
  const needed = ownEntry(NEEDED_CAPABILITY, word);
  if (needed === undefined || capabilities.includes(needed)) return [];
  return [{ code: "no-capability", text: `it lacks the capability ${needed}, which the template ${template} needs` }];
}
