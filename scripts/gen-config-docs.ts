// npm run docs:config: writes docs/config.md from the configuration schema.
import { writeFileSync } from 'node:fs'
import { configDocs } from './config-docs.js'

writeFileSync(new URL('../docs/config.md', import.meta.url), configDocs())
