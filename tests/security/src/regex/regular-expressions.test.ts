import { describe, expect, test } from "vitest";
import { sweepSize } from "../../../../packages/testkit/src/sweep-size.ts";
import { attacksOn, attackText, isReduced, isUnbounded, type Attack } from "./attacks.ts";
import { compile, search } from "./count-steps.ts";
import { contractPatterns, expressionLiterals, filesWithBuiltExpressions, type Expression } from "./expressions.ts";
import { parsePattern } from "./pattern.ts";

/**
 * The expressions that the product builds from strings, as they are built (a tilde is the escape character). Each file is
 * listed, so that a new one is noticed.
 */
const BUILT: Readonly<Record<string, readonly RegExp[] | string>> = {
  "apps/cli/src/output/table.ts": [/~\[\d+m/g, /~\[\d+m|./gu],
  "apps/dev-stack/src/screen/keys.ts": [/~(?:\[[\d;]*[A-Za-z~]|O[A-Z])|[^]/gu],
  "apps/dev-stack/src/screen/view.ts": [/~\[\d*m/y],
  "apps/package-manager/src/http/server/paths.ts": [/^\/api\/v1\/packages\/([^/]+)\/revisions\/([^/]+)$/],
  "apps/package-manager/src/planner/plan-digest.ts": [/^[0-9a-f]{40}-([0-9a-f]{48})$/],
  "packages/contracts/src/crd/v1alpha1/scalars.ts": "contains the patterns of the CRDs, which are tested",
  "packages/kube-apiserver/src/cel/functions/library.ts": "runs patterns of CEL rules, which the owner of a CRD writes",
  "packages/kube-apiserver/src/kinds/validation/names.ts": [
    /^(?:[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$/,
    /^(?:(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?)$/,
  ],
  "packages/kube-apiserver/src/schema/validation/go-pattern.ts":
    "runs patterns of schemas, which the owner of a CRD writes",
  "packages/kube-apiserver/src/schema/validation/string-format.ts": [/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i],
  "packages/models/src/fields/address.ts": [/^https?:\/\/[^\s/]\S*$/],
  "packages/nfr/src/queries/pod-names.ts": [
    /^(?<name>.+)-\d{5,}-deployment-(?<hash>[a-z0-9]{1,10})-(?<suffix>[a-z0-9]{5})$/,
    /^(?<name>.+)-(?<hash>[a-z0-9]{1,10})-(?<suffix>[a-z0-9]{5})$/,
    /^(?<name>.+)-(?<suffix>[a-z0-9]{5})$/,
  ],
};

const MAX_STEPS = 200_000;
/** Steps grow at most so much when a text becomes four times as long; quadratic ones grow sixteenfold. */
const MAX_GROWTH = 6;

/** The attack whose steps grow faster than its text, if any. */
function findSuperlinear({ pattern, flags }: Pick<Expression, "pattern" | "flags">, pumps: number): Attack | undefined {
  const part = parsePattern(pattern, flags);
  if (!isUnbounded(part)) return undefined;
  const program = compile(part, flags);
  return attacksOn(part).find((attack) => {
    const short = search(program, attackText(attack, pumps), MAX_STEPS).steps;
    if (short >= MAX_STEPS) return true;
    return search(program, attackText(attack, 4 * pumps), 16 * MAX_STEPS).steps > MAX_GROWTH * short;
  });
}

function distinct(expressions: readonly Expression[]): readonly Expression[] {
  return [...new Map(expressions.map((each) => [`/${each.pattern}/${each.flags}`, each])).values()];
}

const ALL = distinct([
  ...expressionLiterals(),
  ...contractPatterns(),
  ...Object.entries(BUILT).flatMap(([place, built]) =>
    typeof built === "string" ? [] : built.map(({ source, flags }) => ({ pattern: source, flags, place })),
  ),
]);

describe("every regular expression of the product", () => {
  test("is found", () => {
    expect(ALL.length).toBeGreaterThan(250);
    expect(filesWithBuiltExpressions()).toEqual(Object.keys(BUILT).toSorted());
  });

  test("takes time proportional to the length of any text", () => {
    const slow = ALL.flatMap((expression) => {
      const attack = findSuperlinear(expression, sweepSize(16, 64));
      return attack === undefined ? [] : [`${expression.place} /${expression.pattern}/: ${JSON.stringify(attack)}`];
    });
    expect(slow).toEqual([]);
  });

  test("is modelled faithfully: the counting matcher finds what the real engine finds", () => {
    for (const { pattern, flags, place } of ALL) {
      const part = parsePattern(pattern, flags);
      if (isReduced(part)) continue;
      const program = compile(part, flags);
      for (const attack of attacksOn(part)) {
        const text = attackText(attack, 5);
        const real = new RegExp(pattern, flags).exec(text);
        const { match } = search(program, text, MAX_STEPS);
        const expected = real === null ? undefined : { index: real.index, end: real.index + real[0].length };
        if (!/[uv]/.test(flags)) expect(match, `${place} on ${JSON.stringify(text)}`).toEqual(expected);
      }
    }
  });
});

test.each([
  /(a+)+$/,
  /^(?:[A-Za-z0-9+/]+={0,2})*$/,
  /^(?:0|\d+s)+$/,
  /\s+$/,
  /^-+|-+$/g,
  /\$\{\s*([^{}\s]*)\s*\}/g,
  /"(?:[^"\\]|\\.)*"/g,
  /(?:\\[^]|(?!""")[^])*"""/y,
  /:\/\/[^\s]*@/g,
  /(\w+\s?)*:/,
])("notices that %s is slow", ({ source, flags }) => {
  expect(findSuperlinear({ pattern: source, flags }, 16)).toBeDefined();
});

test.each([/(?<!\s)\s+$/, /\$\{([^{}]*)\}/g, /^\d{1,251}x$/, /[^\s,]+/g, /^(?:[a-z]+=)*[a-z]*$/])(
  "accepts %s",
  ({ source, flags }) => {
    expect(findSuperlinear({ pattern: source, flags }, 16)).toBeUndefined();
  },
);
