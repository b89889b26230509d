import type { FolderRequest } from '../work/approval/folder.ts'

/** A problem that prevents a run from starting. It becomes the error of the run. */
export class NotStartable extends Error {
  readonly code: string
  /** The folders that the board would have to allow. */
  readonly folders: readonly FolderRequest[]
  constructor(code: string, message: string, folders: readonly FolderRequest[] = []) {
    super(message)
    this.code = code
    this.folders = folders
  }
}

/** Records a problem that prevents a run. The planning continues, and so reports all problems at once. */
export type Refuse = (code: string, message: string, folders?: readonly FolderRequest[]) => void
