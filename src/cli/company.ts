import { Command } from 'commander'
import { exportCommand } from './company-export.ts'
import { importCommand, newCommand } from './company-import.ts'

export const companyCommand = () =>
  new Command('company')
    .description('Companies as packages: begin one from a template, import one, export one.')
    .addCommand(importCommand().exitOverride().showHelpAfterError(false))
    .addCommand(exportCommand().exitOverride().showHelpAfterError(false))
    .addCommand(newCommand().exitOverride().showHelpAfterError(false))
    .addHelpText(
      'after',
      `
Examples:
  $ service company new "Walrus Ltd" --template software-team
  $ service company import ./folder --preview
  $ service company export "Walrus Ltd" --out walrus.zip`,
    )
