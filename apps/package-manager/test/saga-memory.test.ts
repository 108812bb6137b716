import { memoryFixtureStore } from "./fakes/deployment-fixture.ts";
import { describeSaga } from "./saga-checks.ts";
import { SCENARIOS } from "./saga-scenarios.ts";

for (const scenario of SCENARIOS) describeSaga(scenario, { openStore: () => memoryFixtureStore() });
