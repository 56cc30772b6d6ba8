package javax.annotation;

/** The annotation that generated code has; the JDK has it under another name since 11. */
public @interface Generated {
    String value();

    String comments() default "";
}
