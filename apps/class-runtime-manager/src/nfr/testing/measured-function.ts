import type { MeasuredComponent } from "../components/measured-component.ts";

/** The measured function `f` of the class `web` with a Deployment. */
export function measuredFunction(over: Partial<MeasuredComponent> = {}): MeasuredComponent {
  const { component = "f" } = over;
  return {
    component,
    target: {
      key: `uid/${component}`,
      namespace: "shop",
      owner: "web",
      functionLabel: component,
      workloads: [{ kind: "Deployment", namespace: "shop", name: `web-${component}` }],
    },
    requirements: {},
    scale: { current: 2 },
    container: {},
    limits: {},
    revision: "1",
    ...over,
  };
}
