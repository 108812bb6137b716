import type { ClassDefinition } from "./class.ts";
import type { ClassDeployment } from "../deployment/deployment.ts";
import type { FunctionDefinition } from "./function.ts";
import type { PackageName } from "../fields/ids.ts";

/** Descriptive metadata of a package. */
export interface PackageMetadata {
  readonly author?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** RFC 3339. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

/** A package: classes, the functions they bind, and the packages they depend on. */
export interface Package {
  readonly name: PackageName;
  readonly version?: string;
  /** Kubernetes namespace of deployments that state none. */
  readonly namespace?: string;
  readonly metadata: PackageMetadata;
  readonly classes: readonly ClassDefinition[];
  readonly functions: readonly FunctionDefinition[];
  readonly dependencies: readonly PackageName[];
  /** Deployments in the package; they are created only on request. */
  readonly deployments: readonly ClassDeployment[];
  /** A disabled package can be read but not deployed. */
  readonly disabled: boolean;
}
