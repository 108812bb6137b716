import { create } from "@bufbuild/protobuf";
import { DeploymentUnitSchema, type DeploymentUnit } from "@oaas/contracts/grpc";
import type { UnitId } from "@oaas/models";

/** A small unit to send. */
export function unitOf(id: string, rest: Partial<DeploymentUnit> = {}): DeploymentUnit & { id: UnitId } {
  return create(DeploymentUnitSchema, {
    id,
    packageName: "shop",
    classKey: "Cart",
    functions: [{ functionKey: "Cart.add" }],
    digest: "d1",
    revision: 1n,
    managedBy: "pm",
    deploymentKey: "cart",
    ...rest,
  } as never) as DeploymentUnit & { id: UnitId };
}
