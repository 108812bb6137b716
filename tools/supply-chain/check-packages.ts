import type { LockedPackage, Lockfile } from "./lockfile.ts";

/** Licenses of packages that we ship: permissive, without duties beyond the notice. */
const SHIPPED_LICENSES = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Python-2.0",
  "Unlicense",
]);

/** Packages with an install script, which `.npmrc` does not run, with the reason why they work without it. */
const KNOWN_INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  "@bufbuild/buf": "checks the installed binary",
  protobufjs: "warns about version ranges",
};

/** Returns the packages of the lockfile that must not be used as they are, one per line, with the reason. */
export function checkPackages(lockfile: Lockfile, apps: readonly string[]): readonly string[] {
  const shipped = new Map(apps.flatMap((app) => lockfile.closureOf(app)).map((one) => [one.folder, one]));
  const problems = [...shipped.values()].flatMap(licenseProblem);
  return [...problems, ...lockfile.registryPackages().flatMap(registryProblems)].toSorted();
}

function licenseProblem({ name, version, license, folder }: LockedPackage): readonly string[] {
  if (license === undefined) return [`${name}@${version} (${folder}) has no license: use another package`];
  if (isAllowed(license)) return [];
  return [`${name}@${version} has the license ${license}, which is not on the list: use another package`];
}

/** Whether a license expression allows shipping: one side of OR, every side of AND. */
export function isAllowed(expression: string): boolean {
  const inner = expression.trim().replace(/^\(([^()]*)\)$/, "$1");
  const [first = "", ...others] = inner.split(/ OR /i);
  if (others.length > 0) return [first, ...others].some(isAllowed);
  return inner.split(/ AND /i).every((license) => SHIPPED_LICENSES.has(license.trim()));
}

function registryProblems({ name, version, integrity, hasInstallScript }: LockedPackage): readonly string[] {
  return [
    ...(integrity?.startsWith("sha512-") === true ? [] : [`${name}@${version} has no SHA-512 integrity: npm install`]),
    ...(hasInstallScript && !(name in KNOWN_INSTALL_SCRIPTS)
      ? [`${name}@${version} has an install script: check that it works without, and add it to KNOWN_INSTALL_SCRIPTS`]
      : []),
  ];
}
