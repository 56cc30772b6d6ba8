# frozen_string_literal: true

require "finance_sandbox/kit"

module FinanceSandbox
  # For minitest: `include FinanceSandbox::Minitest`. `world` is a world of the test. A test that fails also prints what
  # happened in its world.
  module Minitest
    def world = @world ||= Sandbox.shared.world("#{self.class}##{name}")

    def before_teardown
      super
      return unless @world

      self.assertions += @world.verified
      # minitest reports every other exception as an error.
      failures.map! do |failure|
        next failure unless failure.error.is_a?(Unmet)

        lines = failure.backtrace.reject { |line| line.start_with?(__dir__) }
        ::Minitest::Assertion.new(failure.error.message).tap { |one| one.set_backtrace(lines) }
      end
      unless failures.empty?
        report = "\n\n#{@world.safe_report}"
        failures.map! do |failure|
          next failure.exception(failure.message + report) if failure.error.equal?(failure)

          failure.error = failure.error.exception(failure.error.message + report)
          failure
        end
      end
      @world.close
    end
  end
end
