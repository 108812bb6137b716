import type { ClassDefinition } from "./class.ts";
import type { ClassDeployment } from "../deployment/deployment.ts";
import type { FunctionDefinition } from "./function.ts";
import type { PackageName } from "../fields/ids.ts";

/** For people: who wrote a package and what it is about. */
export interface PackageMetadata {
  readonly author?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** The unit of publishing: classes, the functions they bind, and the packages they need. */
export interface Package {
  readonly name: PackageName;
  readonly version?: string;
  readonly metadata: PackageMetadata;
  readonly classes: readonly ClassDefinition[];
  readonly functions: readonly FunctionDefinition[];
  readonly dependencies: readonly PackageName[];
  /** Wishes that travel with the package and are scheduled only when asked. */
  readonly deployments: readonly ClassDeployment[];
  /** A disabled package stays readable and cannot be deployed. */
  readonly disabled: boolean;
}
