import { fetchReferences } from '../../organization/skill/fetch-references.ts'
import { digestOf, takeInventory } from '../../organization/skill/inventory.ts'
import { referenceOf } from '../../organization/skill/reference.ts'
import { createPause } from '../../platform/pause.ts'
import type { Fetch } from '../../platform/source/github.ts'
import type { PackageSkill } from '../read/package.ts'
import type { PackageWarning } from '../source/warning.ts'

/**
 * Downloads the texts of the skills of a package that are references. A skill
 * whose text cannot be downloaded stays a reference, with a warning.
 *
 * @param fetch null to disable downloads
 */
export async function fetchSkillTexts(
  skills: readonly PackageSkill[],
  fetch: Fetch | null,
): Promise<{ skills: PackageSkill[]; warnings: PackageWarning[] }> {
  const { fetched, failed } = fetch
    ? await fetchReferences(skills, fetch)
    : {
        fetched: [],
        failed: (await listReferences(skills)).map((skill) => ({ skill, reason: NOT_ASKED })),
      }
  const texts = new Map(fetched.map(({ skill, files }) => [skill.slug, files]))
  const warnings: PackageWarning[] = []
  if (failed.length > 0) {
    const reasons = [...new Set(failed.map(({ reason }) => reason))].slice(0, 3).join('; ')
    warnings.push({
      code: 'skill_reference',
      path: null,
      message: `${countOf(failed.length)}; ${failed.length === 1 ? 'its' : 'their'} text was not downloaded (${reasons}). \`service skill fetch\` downloads it later.`,
    })
  }
  const withText = (skill: PackageSkill) => {
    const files = texts.get(skill.slug)
    return files ? { ...skill, files, digest: digestOf(takeInventory(files)) } : skill
  }
  return { skills: skills.map(withText), warnings }
}

async function listReferences(skills: readonly PackageSkill[]): Promise<PackageSkill[]> {
  const pause = createPause()
  const found: PackageSkill[] = []
  for (const skill of skills) {
    if (referenceOf(skill.files)) found.push(skill)
    await pause()
  }
  return found
}

const NOT_ASKED = 'the import did not request them'

const countOf = (count: number) => (count === 1 ? '1 skill is a reference' : `${count} skills are references`)
