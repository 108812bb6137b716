import { describeWith, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildConsole, startPackageManager, type Served } from "./console-process.ts";
import { startOidcProvider, type OidcProvider } from "./oidc-provider.ts";
import { accessibilityProblems, openPage, type OpenPage } from "./open-page.ts";
import { expectScreenshot } from "./screenshots.ts";

const CLIENT = "console";
const TOKEN = "viewer-token-0123456789";

describeWith(["chromium"], "signing in", () => {
  let pm: Served;
  let provider: OidcProvider;
  let chromium: BrowserUnderTest;

  beforeAll(async () => {
    await buildConsole();
    provider = await startOidcProvider(CLIENT);
    [pm, chromium] = await Promise.all([
      startPackageManager({ tokens: [["vera", "viewer", TOKEN]], env: withProvider }),
      startBrowser(),
    ]);
  });
  afterAll(async () => {
    await chromium?.close();
    await pm?.[Symbol.asyncDispose]();
    await provider?.close();
  });
  beforeEach(() => {
    provider.claims = { preferred_username: "Ann", groups: ["deployer"] };
    provider.tamper = undefined;
    provider.codeLifetimeMs = 60_000;
  });

  const withProvider = (url: string): Readonly<Record<string, string>> => ({
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: "api",
    OIDC_CLIENT_ID: CLIENT,
    OIDC_REDIRECT_URL: `${url}/api/v1/session/oidc/callback`,
    OIDC_ROLE_CLAIM: "groups",
  });

  const open = (): Promise<OpenPage> =>
    openPage(chromium.browser, { baseURL: pm.url, expected: /status of 401|net::ERR_|favicon/ });

  /** Everything that scripts of the page can read. */
  const storedBy = (page: Page): Promise<string> =>
    page.evaluate(
      () =>
        [localStorage, sessionStorage].map((each) => JSON.stringify(Object.entries(each))).join("") + document.cookie,
    );

  /** From any page to the consent page of the provider. */
  async function goToProvider(page: Page, target = "/packages?filter=x"): Promise<void> {
    await page.goto(target);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await page.getByRole("heading", { name: "Example provider" }).waitFor();
    expect(new URL(page.url()).origin).toBe(provider.issuer);
  }

  test("signs in with a token, offers what the role allows, and signs out", async () => {
    await using opened = await open();
    const { page, problems } = opened;
    await page.goto("/packages?filter=x");
    await page.waitForURL("**/sign-in?**");
    expect(await accessibilityProblems(page)).toEqual([]);
    await expectScreenshot(page, "sign-in");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/packages?filter=x");
    await page.getByText("Nothing matches the filters").waitFor();
    expect(await page.getByRole("link", { name: "New package" }).count()).toBe(0);
    expect(
      await page.evaluate(
        () =>
          [localStorage, sessionStorage].map((storage) => JSON.stringify(Object.values(storage))).join("") +
          document.cookie,
      ),
    ).not.toContain("viewer-token");
    await page.getByRole("button", { name: /vera/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in?**");
    expect(problems).toEqual([]);
  });

  describe("at an OpenID provider", () => {
    test("returns to the page with the role of the account, and keeps no token in the page", async () => {
      await using opened = await open();
      const { page, problems } = opened;
      await goToProvider(page);
      await page.getByRole("button", { name: "Allow" }).click();
      await page.waitForURL(`${pm.url}/packages?filter=x`);
      await page.getByRole("button", { name: /Ann/ }).waitFor();
      await page.getByRole("link", { name: "New package" }).waitFor();
      expect(await storedBy(page)).not.toMatch(/eyJ|oaas-session/);
      await page.reload();
      await page.getByRole("button", { name: /Ann/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.waitForURL("**/sign-in?**");
      expect(problems).toEqual([]);
    });

    test.each([
      { why: "the person denies the consent", answer: "Deny", message: "The sign-in was denied" },
      {
        why: "the state is that of another sign-in",
        tamper: (redirect: URL) => redirect.searchParams.set("state", "a".repeat(43)),
        message: "The sign-in took too long",
      },
      {
        why: "the code has expired",
        codeLifetimeMs: 0,
        message: "The answer of the identity provider is not valid",
        refusal: "expired code",
      },
      { why: "the account has no role", claims: { groups: ["guests"] }, message: "Your account has no role here" },
    ])("explains on the sign-in page that $why", async (failure) => {
      const { answer = "Allow", message, tamper, codeLifetimeMs, claims, refusal } = failure;
      await using opened = await open();
      const { page, problems } = opened;
      provider.tamper = tamper;
      provider.claims = claims ?? provider.claims;
      provider.codeLifetimeMs = codeLifetimeMs ?? provider.codeLifetimeMs;
      const refusals = provider.refusals.length;
      await goToProvider(page);
      await page.getByRole("button", { name: answer }).click();
      await page.waitForURL(`${pm.url}/sign-in?**`);
      await page.getByText(message).waitFor();
      expect(await accessibilityProblems(page)).toEqual([]);
      expect(provider.refusals.slice(refusals)).toEqual(refusal === undefined ? [] : [refusal]);
      expect((await page.context().cookies()).map(({ name }) => name)).toEqual([]);
      expect(problems).toEqual([]);
    });

    test("rejects the code of another person's browser, because the verifier is missing", async () => {
      await using attacker = await open();
      await using victim = await open();
      let stolen = "";
      provider.tamper = (redirect) => {
        stolen = redirect.searchParams.get("code") ?? "";
        redirect.href = `${provider.issuer}/kept`;
      };
      await goToProvider(attacker.page);
      await attacker.page.getByRole("button", { name: "Allow" }).click();
      await attacker.page.waitForURL("**/kept");
      provider.tamper = (redirect) => redirect.searchParams.set("code", stolen);
      await goToProvider(victim.page);
      await victim.page.getByRole("button", { name: "Allow" }).click();
      await victim.page.getByText("The answer of the identity provider is not valid").waitFor();
      expect(provider.refusals.at(-1)).toBe("code_verifier");
      expect((await victim.page.context().cookies()).map(({ name }) => name)).toEqual([]);
    });
  });

  test("leads to the sign-in page when the session is signed out in another tab, and keeps the address", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto("/packages?filter=x");
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("Nothing matches the filters").waitFor();
    const other = await page.context().newPage();
    await other.goto("/clusters");
    await other.getByRole("button", { name: /vera/ }).click();
    await other.getByRole("menuitem", { name: "Sign out" }).click();
    await other.waitForURL("**/sign-in?**");
    // The page asks for nothing: the end of its event stream tells it.
    await page.waitForURL("**/sign-in?return_to=%2Fpackages%3Ffilter%3Dx");
  });

  test("explains that there were too many attempts", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.goto("/sign-in");
    // Twenty are allowed at once, from one address.
    const attempts = Array.from({ length: 25 }, () =>
      fetch(`${pm.url}/api/v1/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: "guess" }),
      }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses).toContain(429);
    await page.getByRole("link", { name: "Sign in with single sign-on" }).click();
    await page.getByText("Too many attempts").waitFor();
  });
});
