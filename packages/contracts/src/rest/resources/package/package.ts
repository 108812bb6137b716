import type { Result, Violation } from "@oaas/foundation";
import {
  checkPackage,
  LIST_LIMITS,
  NAMESPACE,
  PACKAGE_NAME,
  type Package,
  type PackageMetadata,
  type PackageName,
} from "@oaas/models";
import { z } from "zod";
import {
  array,
  boolean,
  defaulted,
  emptyIsAbsent,
  nested,
  nullable,
  optional,
  required,
  resource,
  string,
  timestamp,
  viewedAs,
} from "../../reading/resource.ts";
import { addDocumentRules, readBy } from "../../reading/violations.ts";
import { desiredDeployment } from "../deployment/class-deployment.ts";
import { classDefinition } from "./class.ts";
import { functionDefinition } from "./function.ts";
import { packageOutline } from "./package-outline.ts";

/** Author, description and tags of a package. */
export const packageMetadata = resource<PackageMetadata>()({
  author: nullable("author", "Author.", string()),
  description: nullable("description", "Description.", string()),
  tags: defaulted("tags", "Tags for searching (`tags` of the list).", array(string(), LIST_LIMITS.tags), []),
  createdAt: optional("created_at", "Registration time; set by the package manager.", timestamp()),
  updatedAt: optional("updated_at", "Time of the last change; set by the package manager.", timestamp()),
});

const packageName = string<PackageName>(PACKAGE_NAME);

export const packageDefinition = resource<Package>()({
  name: required("name", "Unique name of the package.", packageName),
  version: nullable(
    "version",
    "Your own version label; the package manager numbers revisions independently.",
    string(),
  ),
  namespace: optional(
    "namespace",
    "Kubernetes namespace of the package's deployments that state none.",
    emptyIsAbsent(string(NAMESPACE)),
  ),
  metadata: defaulted("metadata", "Author, description and tags.", nested(packageMetadata), { tags: [] }),
  classes: defaulted("classes", "Classes of the package.", array(nested(classDefinition), LIST_LIMITS.classes), []),
  functions: defaulted(
    "functions",
    "Functions that the classes bind.",
    array(nested(functionDefinition), LIST_LIMITS.functions),
    [],
  ),
  dependencies: defaulted(
    "dependencies",
    "Packages that must be registered first; dependency cycles are rejected.",
    array(packageName, LIST_LIMITS.dependencies),
    [],
  ),
  deployments: defaulted(
    "deployments",
    "Deployments stored with the package; applied only on request (`apply_deployments`, `PACKAGE_AUTO_DEPLOY`).",
    array(desiredDeployment, LIST_LIMITS.deployments),
    [],
  ),
  disabled: viewedAs(
    defaulted("disabled", "A disabled package can be read but not deployed.", boolean(), false),
    z.boolean().optional(),
  ),
});

export const packageInput = packageDefinition.input;
export const packageView = packageDefinition.view;
export const packageToWire = packageDefinition.toJson;
addDocumentRules(packageInput, (document) => checkPackage(packageOutline(document)));

/** Reads a package, or returns all its violations. */
export function packageFromWire(value: unknown): Result<Package, readonly Violation[]> {
  return readBy(packageInput, value);
}
