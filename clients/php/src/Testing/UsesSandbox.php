<?php

declare(strict_types=1);

namespace FinanceSandbox\Testing;

/** For a test case of PHPUnit: `$this->world()` is a world of the test. A test that fails also prints what happened in it. */
trait UsesSandbox
{
    private ?World $sandboxWorld = null;

    protected function world(): World
    {
        $name = method_exists($this, 'nameWithDataSet') ? $this->nameWithDataSet() : $this->getName();
        return $this->sandboxWorld ??= Sandbox::shared()->world(static::class . '::' . $name);
    }

    /** @after */
    #[\PHPUnit\Framework\Attributes\After]
    public function closeWorld(): void
    {
        if ($this->sandboxWorld === null) {
            return;
        }
        // PHPUnit 10 and later have `status`.
        $status = method_exists($this, 'status') ? $this->status() : null;
        try {
            if ($status === null ? $this->hasFailed() : $status->isFailure() || $status->isError()) {
                fwrite(STDERR, "\n\n{$this->report()}\n");
            }
        } finally {
            $this->addToAssertionCount($this->sandboxWorld->verified); // a test that only verifies is not risky
            $this->sandboxWorld->close();
            $this->sandboxWorld = null;
        }
    }

    private function report(): string
    {
        try {
            return $this->sandboxWorld->report();
        } catch (\RuntimeException $lost) {
            return "no report of the world: {$lost->getMessage()}"; // the test itself has failed
        }
    }
}
