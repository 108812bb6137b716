import { RotateCcw } from "lucide-react";
import { useId } from "react";
import { percent } from "../../lib/format.ts";
import { fieldOf, isActive, type Draft, type WhatIf } from "../../lib/draft.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/page.tsx";

const text = m.plan;

interface WhatIfPanelProps {
  readonly whatIf: WhatIf;
  readonly onChange: (whatIf: WhatIf) => void;
  readonly draft: Draft;
  readonly clusters: readonly string[] | undefined;
}

/** Nines on a slider: 1 is 90 %, 2 is 99 %. */
const NINES = { min: 1, max: 6, step: 0.5 };
const LOAD = { max: 5000, step: 50 };

/** Assumptions to plan with; none of them is applied. */
export function WhatIfPanel({ whatIf, onChange, draft, clusters = [] }: WhatIfPanelProps) {
  const { clustersDown, availability, load } = whatIf;
  const ids = { target: useId(), load: useId() };
  const stated = fieldOf(draft, ["nfr_requirements", "availability"]);
  const target = availability ?? (typeof stated === "number" ? stated : 0.99);
  const rate = fieldOf(draft, ["nfr_requirements", "min_throughput_rps"]);
  const offered = [...new Set([...clusters, ...clustersDown])];
  return (
    <Panel
      title={text.whatIf}
      actions={
        isActive(whatIf) && (
          <Button
            icon={RotateCcw}
            onClick={() => onChange({ clustersDown: [], availability: undefined, load: undefined })}
          >
            {text.reset}
          </Button>
        )
      }
    >
      <div className="space-y-4">
        <fieldset>
          <legend className="text-sm font-medium">{text.clustersDown}</legend>
          <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1">
            {offered.length === 0 && <span className="text-ink-3">–</span>}
            {offered.map((cluster) => (
              <label key={cluster} className="flex items-center gap-1.5">
                <input
                  type="checkbox"
                  checked={clustersDown.includes(cluster)}
                  onChange={(event) =>
                    onChange({
                      ...whatIf,
                      clustersDown: event.target.checked
                        ? [...clustersDown, cluster]
                        : clustersDown.filter((each) => each !== cluster),
                    })
                  }
                />
                {cluster}
              </label>
            ))}
          </div>
        </fieldset>
        <div>
          <label htmlFor={ids.target} className="flex justify-between text-sm font-medium">
            {text.target} <output className="num">{percent(target)}</output>
          </label>
          <input
            id={ids.target}
            type="range"
            className="w-full accent-[var(--accent)]"
            min={NINES.min}
            max={NINES.max}
            step={NINES.step}
            value={-Math.log10(Math.max(1 - target, 1e-7))}
            aria-valuetext={percent(target)}
            onChange={(event) =>
              onChange({ ...whatIf, availability: Number((1 - 10 ** -Number(event.target.value)).toFixed(7)) })
            }
          />
        </div>
        <div>
          <label htmlFor={ids.load} className="flex justify-between text-sm font-medium">
            {text.load} <output className="num">{text.rate(load ?? (typeof rate === "number" ? rate : 0))}</output>
          </label>
          <input
            id={ids.load}
            type="range"
            className="w-full accent-[var(--accent)]"
            min={0}
            max={LOAD.max}
            step={LOAD.step}
            value={load ?? (typeof rate === "number" ? rate : 0)}
            aria-valuetext={text.rate(load ?? 0)}
            onChange={(event) =>
              onChange({ ...whatIf, load: Number(event.target.value) === 0 ? undefined : Number(event.target.value) })
            }
          />
        </div>
      </div>
    </Panel>
  );
}
