import type { Session } from "../../session/session.ts";

/** Each script asks `oaas __complete` for candidates, so it stays valid across versions. */
const SCRIPTS = {
  bash: `_oaas_complete() {
  local IFS=$'\\n'
  COMPREPLY=($(oaas __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *[=/.] ]]; then compopt -o nospace; fi
}
complete -o default -F _oaas_complete oaas
`,
  zsh: `#compdef oaas
_oaas() {
  local -a found
  found=("\${(@f)$(oaas __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -Q -a found; else _files; fi
}
if [[ "\${funcstack[1]}" == _oaas ]]; then _oaas "$@"; else compdef _oaas oaas; fi
`,
  fish: `complete -c oaas -f -a '(oaas __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
complete -c oaas -s f -l filename -r -F
`,
} as const;

export type Shell = keyof typeof SCRIPTS;

export async function completion(session: Session, _flags: object, shell: string): Promise<void> {
  session.print(SCRIPTS[shell as Shell]);
}
