// `module.extension` makes the imports work under Node's own module resolution.
export default { input: '../client.json', output: { path: 'generated', module: { extension: '.js' } } };
