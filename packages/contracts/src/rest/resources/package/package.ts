import type { Result, Violation } from "@oaas/foundation";
import {
  checkPackage,
  DeploymentCondition,
  PACKAGE_NAME,
  type Package,
  type PackageMetadata,
  type PackageName,
} from "@oaas/models";
import { z } from "zod";
import {
  flag,
  input,
  instant,
  listOf,
  optional,
  present,
  text,
  textOf,
  view,
  withDefault,
} from "../../reading/fields.ts";
import { alsoJudged, readBy } from "../../reading/violations.ts";
import { classDeploymentInput, classDeploymentToWire, classDeploymentView } from "../deployment/class-deployment.ts";
import { classInput, classToWire, classView } from "./class.ts";
import { functionInput, functionToWire, functionView } from "./function.ts";
import { packageOutline } from "./package-outline.ts";

const METADATA = {
  author: "Author.",
  description: "Description.",
  tags: "Tags for searching (`tags` of the list).",
  created_at: "Registration time; set by the package manager.",
  updated_at: "Time of the last change; set by the package manager.",
};

/** What may be sent as a package's metadata. */
export const packageMetadataInput = input(
  {
    author: optional(text()),
    description: optional(text()),
    tags: listOf(text()),
    created_at: optional(instant()),
    updated_at: optional(instant()),
  },
  METADATA,
).transform((wire): PackageMetadata =>
  present({
    author: wire.author,
    description: wire.description,
    tags: wire.tags,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
  }),
);

const PACKAGE = {
  name: "Unique name of the package.",
  version: "Your own version label; the package manager numbers revisions independently.",
  metadata: "Author, description and tags.",
  classes: "Classes of the package.",
  functions: "Functions that the classes bind.",
  dependencies: "Packages that must be registered first; dependency cycles are rejected.",
  deployments:
    "Deployments stored with the package; applied only on request (`apply_deployments`, `PACKAGE_AUTO_DEPLOY`).",
  disabled: "A disabled package can be read but not deployed.",
};

/** What may be sent as a package. */
export const packageInput = input(
  {
    name: textOf<PackageName>(PACKAGE_NAME),
    version: optional(text()),
    metadata: withDefault(packageMetadataInput, { tags: [] }),
    classes: listOf(classInput),
    functions: listOf(functionInput),
    dependencies: listOf(textOf<PackageName>(PACKAGE_NAME)),
    deployments: listOf(classDeploymentInput),
    disabled: withDefault(flag(), false),
  },
  PACKAGE,
).transform((wire): Package =>
  present({
    name: wire.name,
    version: wire.version,
    metadata: wire.metadata,
    classes: wire.classes,
    functions: wire.functions,
    dependencies: wire.dependencies,
    deployments: wire.deployments,
    disabled: wire.disabled,
  }),
);
alsoJudged(packageInput, (document) => checkPackage(packageOutline(document)));

/** A package's metadata as it is sent. */
export const packageMetadataView = view(
  {
    author: z.string().nullable(),
    description: z.string().nullable(),
    tags: z.array(z.string()).readonly(),
    created_at: z.string().optional(),
    updated_at: z.string().optional(),
  },
  METADATA,
);

/** A package as it is sent. */
export const packageView = view(
  {
    name: z.string(),
    version: z.string().nullable(),
    metadata: packageMetadataView,
    classes: z.array(classView),
    functions: z.array(functionView),
    dependencies: z.array(z.string()).readonly(),
    deployments: z.array(classDeploymentView),
    disabled: z.boolean().optional(),
  },
  PACKAGE,
);

/** Reads a package, or says everything that is wrong with it. */
export function packageFromWire(value: unknown): Result<Package, readonly Violation[]> {
  return readBy(packageInput, value);
}

/** Writes a package in the contract's JSON. */
export function packageToWire(definition: Package): z.output<typeof packageView> {
  const { metadata } = definition;
  return {
    name: definition.name,
    version: definition.version ?? null,
    metadata: present({
      author: metadata.author ?? null,
      description: metadata.description ?? null,
      tags: metadata.tags,
      created_at: metadata.createdAt,
      updated_at: metadata.updatedAt,
    }),
    classes: definition.classes.map(classToWire),
    functions: definition.functions.map(functionToWire),
    dependencies: definition.dependencies,
    deployments: definition.deployments.map((deployment) =>
      classDeploymentToWire({ deployment, condition: DeploymentCondition.pending }),
    ),
    disabled: definition.disabled,
  };
}
