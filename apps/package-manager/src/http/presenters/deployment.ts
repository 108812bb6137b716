import { classDeploymentToWire } from "@oaas/contracts/rest";
import type { ObservedDeployment } from "@oaas/models";

const texts = new WeakMap<ObservedDeployment, string>();

/** A deployment in the JSON of the REST interface; written once for each state it is in. */
export function deploymentJson(deployment: ObservedDeployment): string {
  let text = texts.get(deployment);
  if (text === undefined) {
    text = JSON.stringify(classDeploymentToWire(deployment));
    texts.set(deployment, text);
  }
  return text;
}
