<?php

// What Composer's autoloader does with `composer.json`.
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/../src/' . str_replace(['FinanceSandbox\\', '\\'], ['', '/'], $class) . '.php';
    if (str_starts_with($class, 'FinanceSandbox\\') && is_file($file)) {
        require $file;
    }
});
