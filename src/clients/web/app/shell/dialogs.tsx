import { NewAgent } from '../pages/agents/new-agent.tsx'
import { RehearsalDialog } from '../pages/agents/rehearsal.tsx'
import { DecisionReason } from '../pages/approvals/decision.tsx'
import { NewIssue } from '../pages/issues/new-issue.tsx'
import { LabelDialog } from '../pages/labels/label-dialog.tsx'
import { Keys } from './keys.tsx'
import { Palette } from './palette.tsx'

/** The dialogs that every page can open. */
export function Dialogs() {
  return (
    <>
      <NewIssue />
      <NewAgent />
      <LabelDialog />
      <RehearsalDialog />
      <Palette />
      <Keys />
      <DecisionReason />
    </>
  )
}
